/** One transaction on one connection of the pool. */
import type pg from "pg";

/**
 * Runs `work` between BEGIN and COMMIT, and ROLLBACK when it throws; its error is passed on. A connection that cannot
 * even roll back is closed, so that no other borrower gets it in the middle of a transaction.
 */
export async function withTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((rollback: Error) => {
      broken = rollback;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
