import { createServer } from "node:net";
import { CommandFailed } from "./command.js";

/** Fails while a port cannot be listened on, before any work is done in vain. `instead` says how to choose another. */
export async function requireFreePort(port: number, host: string, instead: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(error, { host, port }, instead)));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** What keeps a process from listening; any other error stays as it is. */
export function cannotListen(
  error: NodeJS.ErrnoException,
  asked: { readonly host: string; readonly port: number },
  instead: string,
): Error {
  if (error.syscall !== "listen" && error.syscall !== "getaddrinfo") return error;
  const { host } = asked;
  // Of several ports, that which it is about.
  const port = "port" in error ? error.port : asked.port;
  const why = error.code === "EADDRINUSE" ? "is in use" : `cannot be listened on (${error.message})`;
  return new CommandFailed(`Port ${port} on ${host} ${why}: ${instead}`, 1);
}
