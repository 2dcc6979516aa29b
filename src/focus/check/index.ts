export { checkFile } from "./check-file.js";
export { clean } from "./clean.js";
export {
  type CheckFinding as Finding,
  costs,
  type FindingExample as Example,
  type FocusReport,
} from "./report.js";
export { openScratchEngine } from "./scratch-engine.js";
