import { userInfo } from "node:os";
import type { Config } from "../config/config.js";
import { type Scope, scopes } from "../domain/scopes.js";
import type { Actor } from "../postgres/audit.js";
import {
  createToken,
  DEFAULT_DAYS,
  MAX_DAYS,
  revokeToken,
  TOKEN_NAME,
  type TokenInput,
} from "../postgres/tokens.js";
import { readTokens } from "../query/state/tokens.js";
import { type OpenedStores, openStores } from "../stores/open-stores.js";
import {
  type Command,
  CommandError,
  type CommandIo,
  type Options,
  parseFiles,
  UsageError,
} from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { commandLogger } from "./logger.js";
import { whole } from "./simulation.js";
import { writeTable } from "./table.js";
import { selectTenants } from "./tenants.js";

const options = {
  name: { type: "string", value: "NAME", help: "create: its name, as the audit and new tags show it" },
  scope: {
    type: "string",
    value: "SCOPE",
    multiple: true,
    help: `create: its scope, one of ${scopes.join(", ")}; may be repeated`,
  },
  tenant: {
    type: "string",
    value: "NAME",
    multiple: true,
    help: "create: a tenant that it may access; may be repeated",
  },
  "every-tenant": {
    type: "boolean",
    default: false,
    help: "create: it may access every tenant, including future ones",
  },
  days: {
    type: "string",
    value: "N",
    default: String(DEFAULT_DAYS),
    help: `create: how long it is valid, at most ${MAX_DAYS} days`,
  },
  id: { type: "string", value: "ID", help: "revoke: the token, by its id in the list" },
  ...configOptions,
} as const satisfies Options;

type Given = ReturnType<typeof parseFiles<typeof options>>["values"];
type Work = (stores: OpenedStores, io: CommandIo) => Promise<number>;

/** Creates, lists and revokes tokens for `api.auth: tokens`. */
export const token: Command = {
  usage:
    "token create|list|revoke [--name NAME] [--scope SCOPE]... [--tenant NAME]... [--every-tenant] [--days N] [--id ID] --config FILE [--env-file FILE]",
  options,
  async run(args, io) {
    const { values, files } = parseFiles(args, options);
    const [action = "", ...more] = files;
    const prepare = Object.hasOwn(actions, action) && more.length === 0 ? actions[action] : undefined;
    if (prepare === undefined) throw new UsageError("token needs one of create, list, revoke");
    refuseOptionsOfOthers(action, values);
    const config = await configurationOf(values, io);
    const work = prepare(values, config);
    const stores = await openStores({
      config,
      logger: commandLogger(config.logging, io.stderr),
      signal: io.signal,
    });
    try {
      return await work(stores, io);
    } finally {
      await stores.close();
    }
  },
};

/** Options that only one action has. */
const optionsOfAction = {
  create: ["name", "scope", "tenant", "every-tenant", "days"],
  revoke: ["id"],
} as const satisfies Record<string, readonly (keyof typeof options)[]>;

function refuseOptionsOfOthers(action: string, given: Given): void {
  for (const [owner, names] of Object.entries(optionsOfAction))
    for (const name of names) {
      const option = options[name];
      const usual = "default" in option ? option.default : undefined;
      if (owner !== action && given[name] !== usual)
        throw new UsageError(`token ${action} takes no --${name}`);
    }
}

/** Each action validates its options before a store is opened. */
const actions: Readonly<Record<string, (given: Given, config: Config) => Work>> = {
  create(given, config) {
    const input = tokenInput(given, config);
    return async ({ postgres }, { stdout, stderr }) => {
      const made = await createToken(postgres, input, localActor());
      const tenants = input.tenants?.join(", ") ?? "every tenant";
      stderr.write(
        `Token ${made.token_id} of ${input.name}: ${input.scopes.join(", ")}; ${tenants}; ${input.days} days. It is not shown again.\n`,
      );
      if (config.api.auth === "none")
        stderr.write("api.auth is none: the API accepts tokens only if it is tokens, oidc or proxy.\n");
      stdout.write(`${made.token}\n`);
      return 0;
    };
  },
  list:
    () =>
    async (stores, { stdout }) => {
      const tokens = await readTokens(stores.postgres, {});
      const rows = tokens.map((each) => [
        String(each.token_id),
        each.name,
        each.scopes.join(","),
        each.tenants?.join(",") ?? "(every)",
        each.state,
        each.expires_at.slice(0, 10),
        each.last_used_at?.slice(0, 10) ?? "never",
      ]);
      const head = ["ID", "NAME", "SCOPES", "TENANTS", "STATE", "EXPIRES", "USED"];
      writeTable(stdout, { head, rows, keys: head.length });
      return 0;
    },
  revoke({ id }) {
    if (id === undefined) throw new UsageError("--id ID is required: `token list` shows the ids");
    const tokenId = whole("id", id, 1, Number.MAX_SAFE_INTEGER);
    return async ({ postgres }, { stderr }) => {
      if (!(await revokeToken(postgres, tokenId, localActor())))
        throw new CommandError(`There is no token ${tokenId}.`, 1);
      stderr.write(`Token ${tokenId} is revoked.\n`);
      return 0;
    };
  },
};

function tokenInput(given: Given, config: Config): TokenInput {
  const { name, scope = [], tenant = [] } = given;
  if (name === undefined || !new RegExp(TOKEN_NAME.pattern).test(name))
    throw new UsageError(`--name must be ${TOKEN_NAME.expected}`);
  const known = scope.filter((each): each is Scope => scopes.some((one) => one === each));
  if (known.length === 0 || known.length < scope.length)
    throw new UsageError(`--scope must be one of ${scopes.join(", ")}`);
  if (given["every-tenant"] && tenant.length > 0)
    throw new UsageError("--tenant and --every-tenant exclude each other");
  if (!given["every-tenant"] && tenant.length === 0)
    throw new UsageError("one of --tenant NAME and --every-tenant is required");
  const tenants = given["every-tenant"]
    ? null
    : selectTenants(config, tenant).map((each) => each.tenant_name);
  return {
    name,
    scopes: [...new Set(known)],
    days: whole("days", given.days, 1, MAX_DAYS),
    tenants: tenants && [...new Set(tenants)],
  };
}

/** The user of the operating system who runs the command. */
function localActor(): Actor {
  return { kind: "command", name: userInfo().username };
}
