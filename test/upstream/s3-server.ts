/** The simulated S3 service, until the test ends. */
import type { Test } from "tap";
import { type S3Options, type S3Server, startS3Server } from "../../src/simulator/s3-server.js";

export async function s3Server(t: Test, options: S3Options): Promise<S3Server> {
  const server = await startS3Server(options);
  t.teardown(() => server.close());
  return server;
}
