/** Which connections have no request under way. Node's own `closeIdleConnections` misses those that never sent one. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

export interface IdleConnections {
  /** Ends those that are idle now, and every other one when its answers are out. */
  end(): void;
}

export function watchIdleConnections(server: Server): IdleConnections {
  /** Requests under way by connection. */
  const underWay = new Map<Socket, number>();
  /** Over TLS, connections that did not shake hands yet, by the address of the client: there is no request on them. */
  const handshakes = new Map<string, Socket>();
  let ending = false;
  const watch = (socket: Socket) => {
    if (ending) return void socket.destroy();
    underWay.set(socket, 0);
    socket.once("close", () => underWay.delete(socket));
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
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (underWay.get(socket) ?? 1) - 1;
      if (underWay.has(socket)) underWay.set(socket, left);
      // `end` sends what is still in its buffer.
      if (ending && left === 0) socket.end();
    });
  });
  return {
    end() {
      ending = true;
      for (const socket of handshakes.values()) socket.destroy();
      for (const [socket, requests] of underWay) if (requests === 0) socket.destroy();
    },
  };
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
