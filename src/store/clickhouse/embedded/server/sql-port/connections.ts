/**
 * Bounds the connections to the port, so that nobody is locked out by connections that do nothing. When there are too many, one that
 * runs nothing makes room: of those that nobody signed on with, as long as there are any, the oldest of the address that has the most.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** The request's client has proved who it is: its connection may stay. It runs something until the response is over. */
  signedOn(request: IncomingMessage, response: ServerResponse): void;
}

interface Connection {
  readonly socket: Socket;
  /** Closes the connection when nobody signs on in time; undefined after that. */
  late: NodeJS.Timeout | undefined;
  running: number;
}

const MOST = 256;
const SIGN_ON_MS = 10_000;

export function boundConnections(server: Server, most = MOST, signOnMs = SIGN_ON_MS): Connections {
  /** By the client's address and port, which are the same for a connection and for TLS over it. Those that were idle longest stand first. */
  const open = new Map<string, Connection>();

  function makeRoom(): void {
    const idle = [...open].filter(([, { running }]) => running === 0);
    const unknown = idle.filter(([, { late }]) => late !== undefined);
    const candidates = unknown.length > 0 ? unknown : idle;
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
    if (open.size >= most) makeRoom();
    if (open.size >= most) return socket.destroy();
    const late = setTimeout(() => socket.destroy(), signOnMs);
    const connection: Connection = { socket, late, running: 0 };
    open.set(key, connection);
    socket.once("close", () => {
      clearTimeout(connection.late);
      if (open.get(key) === connection) open.delete(key);
    });
  });

  return {
    signedOn({ socket }, response) {
      const key = keyOf(socket);
      const connection = open.get(key);
      if (connection === undefined) return;
      clearTimeout(connection.late);
      connection.late = undefined;
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
