import { createServer } from "node:net";
import { CommandFailed } from "./command.js";

/** Fails while a port cannot be listened on, before any work is done in vain. `instead` says how to choose another. */
export async function requireFreePort(port: number, host: string, instead: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "is in use" : `cannot be listened on (${error.message})`;
      reject(new CommandFailed(`Port ${port} on ${host} ${why}: ${instead}`, 1));
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
