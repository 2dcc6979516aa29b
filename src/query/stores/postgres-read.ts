/** Reads of Postgres: each ends when its signal does. */
export {
  runStoppable as readPostgres,
  type Statement as PostgresRead,
} from "../../store/postgres/stoppable.js";
