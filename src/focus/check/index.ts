export { checkFile } from "./check-file.js";
export { clean } from "./clean.js";
export { costs, type Example, type Finding, type FocusReport } from "./report.js";
export { openScratchEngine } from "./scratch-engine.js";
