/**
 * Limits the number of connections to the port, so that connections that do nothing lock nobody out. If there are too
 * many, one without a running query is closed: preferably one that nobody has signed on with, and of these the oldest
 * one of the address with the most.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface ClientConnections {
  /** Keeps the connection of a client that has authenticated. It counts as running until the response is over. */
  signedOn(request: IncomingMessage, response: ServerResponse): void;
}

interface Connection {
  readonly socket: Socket;
  /** Closes the connection if nobody signs on in time. Undefined afterwards. */
  signOnTimer: NodeJS.Timeout | undefined;
  running: number;
}

const MAX_CONNECTIONS = 256;
const SIGN_ON_MS = 10_000;

export function boundConnections(
  server: Server,
  maxConnections = MAX_CONNECTIONS,
  signOnMs = SIGN_ON_MS,
): ClientConnections {
  /**
   * By the client's address and port, which are the same for a connection and for TLS over it. Idle for the longest
   * time first.
   */
  const open = new Map<string, Connection>();

  function makeRoom(): void {
    const idle = [...open].filter(([, { running }]) => running === 0);
    const anonymous = idle.filter(([, { signOnTimer }]) => signOnTimer !== undefined);
    const candidates = anonymous.length > 0 ? anonymous : idle;
    const counts = new Map<string | undefined, number>();
    const countOf = ({ socket }: Connection) => counts.get(socket.remoteAddress) ?? 0;
    for (const [, connection] of candidates)
      counts.set(connection.socket.remoteAddress, countOf(connection) + 1);
    const most = Math.max(...counts.values());
    const victim = candidates.find(([, connection]) => countOf(connection) === most);
    if (victim === undefined) return;
    open.delete(victim[0]);
    victim[1].socket.destroy();
  }

  server.on("connection", (socket: Socket) => {
    const key = keyOf(socket);
    if (open.size >= maxConnections) makeRoom();
    if (open.size >= maxConnections) return socket.destroy();
    const signOnTimer = setTimeout(() => socket.destroy(), signOnMs);
    const connection: Connection = { socket, signOnTimer, running: 0 };
    open.set(key, connection);
    socket.once("close", () => {
      clearTimeout(connection.signOnTimer);
      if (open.get(key) === connection) open.delete(key);
    });
  });

  return {
    signedOn({ socket }, response) {
      const key = keyOf(socket);
      const connection = open.get(key);
      if (connection === undefined) return;
      clearTimeout(connection.signOnTimer);
      connection.signOnTimer = undefined;
      connection.running += 1;
      response.once("close", () => {
        connection.running -= 1;
        if (open.get(key) !== connection) return;
        open.delete(key);
        open.set(key, connection);
      });
    },
  };
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
