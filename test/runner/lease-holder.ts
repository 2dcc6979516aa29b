/** Holds a tenant's lease until it is killed. */
import { openPostgres } from "../../src/postgres/client.js";
import { acquireLease } from "../../src/runner/lease.js";
import { testLogger } from "../stores.js";

const { postgres, tenantName, timing } = JSON.parse(process.argv[2] ?? "{}");
const pool = openPostgres(postgres, { logger: testLogger });
const lease = await acquireLease(pool, tenantName, "child", timing);
console.log(`holding epoch ${lease?.epoch}`);
setInterval(() => undefined, 1000);
