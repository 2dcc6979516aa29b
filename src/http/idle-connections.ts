/** Which connections have no request under way. Node's own `closeIdleConnections` misses those that never sent one. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface IdleConnections {
  /** Ends those that are idle now, and every other one when its answers are out. */
  end(): void;
}

export function watchIdleConnections(server: Server): IdleConnections {
  /** Requests under way by connection. */
  const underWay = new Map<Socket, number>();
  let ending = false;
  server.on("connection", (socket: Socket) => {
    if (ending) return void socket.destroy();
    underWay.set(socket, 0);
    socket.once("close", () => underWay.delete(socket));
  });
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
      for (const [socket, requests] of underWay) if (requests === 0) socket.destroy();
    },
  };
}
