export { clusterFiles } from "./cluster-files.js";
export { PostgresDiskFullError, reportsDiskFull } from "./disk-full.js";
export { type EmbeddedPostgres, startEmbeddedPostgres } from "./start.js";
