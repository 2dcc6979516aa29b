/**
 * An agent that connects to the host in use, for a client that has one address. Requests are not repeated: a request
 * fails with its connection.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { connect as connectPlainly, isIP, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import type { HostChoice } from "./host-choice.js";

/** A host that drops packets counts as unreachable. */
const CONNECT_TIMEOUT_MS = 5_000;

export function failoverAgent(
  hosts: HostChoice,
  { tls, count, maxSockets }: { readonly tls: boolean; readonly count: number; readonly maxSockets: number },
): HttpAgent {
  const open = new Map<Socket, string>();
  const connection = async (): Promise<Socket> => {
    for (let tries = 1; ; tries++) {
      const url = await hosts.current();
      try {
        const socket = await connectTo(new URL(url), tls);
        // Requests to another host are cut off: two hosts at a time would not see each other's writes at once.
        for (const [other, otherUrl] of open) if (otherUrl !== url) other.destroy();
        open.set(socket, url);
        socket.once("close", () => open.delete(socket));
        return socket;
      } catch (error) {
        hosts.leave(url);
        if (tries === count) throw error;
      }
    }
  };
  const agent = new (tls ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets });
  agent.createConnection = (_, callback) => {
    connection().then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}

function connectTo({ hostname, port }: URL, tls: boolean): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const address = { host, port: Number(port), noDelay: true, keepAlive: true };
  const servername = isIP(host) ? {} : { servername: host };
  const socket = tls ? connectSecurely({ ...address, ...servername }) : connectPlainly(address);
  return new Promise((resolve, reject) => {
    const onTimeout = () =>
      socket.destroy(
        Object.assign(new Error(`no connection to ${host}:${port} within ${CONNECT_TIMEOUT_MS / 1000} s`), {
          code: "ETIMEDOUT",
        }),
      );
    const timer = setTimeout(onTimeout, CONNECT_TIMEOUT_MS);
    socket.once(tls ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // The listener stays, because the agent adds its own a moment later, and the connection may break in between.
    socket.on("error", reject);
    socket.once("close", () => clearTimeout(timer));
  });
}
