import { createServer } from "node:net";
import { CommandError } from "./command.js";

/** Fails early if the port is not free. `instead` tells the user how to choose another one. */
export async function requireFreePort(port: number, host: string, instead: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(error, { host, port }, instead)));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** Converts an error of listening to a `CommandError`; returns other errors unchanged. */
export function cannotListen(
  error: NodeJS.ErrnoException,
  address: { readonly host: string; readonly port: number },
  instead: string,
): Error {
  if (error.syscall !== "listen" && error.syscall !== "getaddrinfo") return error;
  const { host } = address;
  // With several ports, the error has the port that failed.
  const port = "port" in error ? error.port : address.port;
  const reason = error.code === "EADDRINUSE" ? "is in use" : `cannot be listened on (${error.message})`;
  return new CommandError(`Port ${port} on ${host} ${reason}: ${instead}`, 1);
}
