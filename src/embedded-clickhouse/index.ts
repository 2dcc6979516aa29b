export { CATALOG } from "./server/sql-port/catalog.js";
export { sqlListenerOf } from "./sql-listener.js";
export { createEmbeddedClickHouse, type EmbeddedClickHouse } from "./supervisor.js";
