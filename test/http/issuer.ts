/** A real OpenID Connect issuer, at which a user signs in without a form. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import type { Test } from "tap";

const RESOURCE = "https://costs.example.org";

export interface Person {
  readonly name: string;
  readonly groups: readonly string[];
}

/** `localhost` is another site than `127.0.0.1`, where the service is. */
export async function startIssuer(t: Test) {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const state = {
    /** Who signs in next; undefined: the user cancels. */
    person: { name: "ada", groups: ["finops"] } as Person | undefined,
    /** Where the roles are. */
    rolesIn: "id_token" as "id_token" | "access_token",
    /** How often a code was exchanged. */
    exchanges: 0,
  };
  const people = new Map<string, Person>();
  return {
    url,
    state,
    /** Registers the service. `secret` undefined: a public client. */
    register(redirectUris: readonly string[], secret?: string) {
      const provider = new Provider(url, {
        clients: [
          {
            client_id: "chargehouse",
            redirect_uris: [...redirectUris],
            ...(secret === undefined
              ? { token_endpoint_auth_method: "none" }
              : { client_secret: secret, token_endpoint_auth_method: "client_secret_basic" }),
          },
        ],
        claims: { openid: ["sub"], groups: ["groups"] },
        conformIdTokenClaims: false,
        pkce: { required: () => true },
        interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
        features: {
          devInteractions: { enabled: false },
          resourceIndicators: {
            enabled: true,
            defaultResource: () => RESOURCE,
            useGrantedResource: () => true,
            getResourceServerInfo: () => ({
              audience: "costs",
              scope: "",
              accessTokenFormat: "jwt",
              jwt: { sign: { alg: "RS256" } },
            }),
          },
        },
        extraTokenClaims: (_context, token) =>
          state.rolesIn === "access_token" && "accountId" in token
            ? { groups: people.get(String(token.accountId))?.groups }
            : undefined,
        findAccount: (_context, sub) => ({
          accountId: sub,
          claims: () => ({
            sub,
            ...(state.rolesIn === "id_token" && { groups: people.get(sub)?.groups }),
          }),
        }),
        async loadExistingGrant({ oidc }) {
          const grant = new oidc.provider.Grant({
            clientId: oidc.client?.clientId ?? "",
            accountId: oidc.session?.accountId ?? "",
          });
          grant.addOIDCScope("openid groups");
          await grant.save();
          return grant;
        },
      });
      const handle = provider.callback();
      server.removeAllListeners("request");
      server.on("request", async (request, response) => {
        if (request.url === "/token") state.exchanges++;
        if (!request.url?.startsWith("/interaction/")) return void handle(request, response);
        const { person } = state;
        if (person !== undefined) people.set(person.name, person);
        await provider.interactionFinished(
          request,
          response,
          person === undefined
            ? { error: "access_denied", error_description: "the user cancelled" }
            : { login: { accountId: person.name, remember: false } },
        );
      });
    },
  };
}
