/** Servers that speak TLS, with a certificate that can be renewed while they run. `localhost` is served by one for each of its addresses. */
import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { type Certificate, HANDSHAKE_TIMEOUT_MS } from "../../tls/certificate.js";

export interface TlsServers {
  create(limits: ServerOptions, listener: RequestListener): Server;
  /** For connections from now on. */
  use(renewed: Certificate): void;
}

export function tlsServers(certificate: Certificate): TlsServers {
  const servers: Server[] = [];
  let current = certificate;
  return {
    create(limits, listener) {
      const options = { ...limits, ...current.options, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
      const server = createServer(options, listener);
      servers.push(server);
      return server;
    },
    use(renewed) {
      current = renewed;
      for (const server of servers) server.setSecureContext(renewed.options);
    },
  };
}
