/**
 * Tracks connections without an active request. Node's `closeIdleConnections` misses those that never sent a request.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

export interface IdleConnections {
  /** Closes idle connections now, and each other connection after its last response. */
  end(): void;
}

export function watchIdleConnections(server: Server): IdleConnections {
  /** Number of active requests by connection. */
  const activeRequests = new Map<Socket, number>();
  /** TLS connections before the end of their handshake, by the address of the client. They have no requests yet. */
  const handshakes = new Map<string, Socket>();
  let ending = false;
  const watch = (socket: Socket) => {
    if (ending) return void socket.destroy();
    activeRequests.set(socket, 0);
    socket.once("close", () => activeRequests.delete(socket));
  };
  if (server instanceof TlsServer) {
    server.on("connection", (socket: Socket) => {
      if (ending) return void socket.destroy();
      const client = clientOf(socket);
      handshakes.set(client, socket);
      socket.once("close", () => {
        if (handshakes.get(client) === socket) handshakes.delete(client);
      });
    });
    server.on("secureConnection", (socket: Socket) => {
      handshakes.delete(clientOf(socket));
      watch(socket);
    });
  } else {
    server.on("connection", watch);
  }
  server.on("request", ({ socket }, response) => {
    activeRequests.set(socket, (activeRequests.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const remaining = (activeRequests.get(socket) ?? 1) - 1;
      if (activeRequests.has(socket)) activeRequests.set(socket, remaining);
      // Unlike `destroy`, `end` sends the rest of the buffer first.
      if (ending && remaining === 0) socket.end();
    });
  });
  return {
    end() {
      ending = true;
      for (const socket of handshakes.values()) socket.destroy();
      for (const [socket, requests] of activeRequests) if (requests === 0) socket.destroy();
    },
  };
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
