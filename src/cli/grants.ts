import { createHash, randomBytes } from "node:crypto";
import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import { openClickHouseClient } from "../clickhouse/client.js";
import {
  changePassword,
  createReader,
  type ReaderLimits,
  readerName,
  readerStatements,
  roleStatements,
} from "../clickhouse/reader-rights.js";
import { createHostChoice } from "../clickhouse/replicas/host-choice.js";
import { errorMessage } from "../common/error-message.js";
import { isLostConnection } from "../common/lost-connection.js";
import { StoreNotOpenedError } from "../common/store-not-opened.js";
import type { TenantConfig } from "../config/config.js";
import { describeStorage, type ServerStorage } from "../config/settings/storage.js";
import { type Command, CommandError, type CommandIo, type Options, parseOptions } from "./command.js";
import { configOptions, configurationOf, tenantsOption } from "./configuration.js";
import { writeTable } from "./table.js";
import { selectTenants } from "./tenants.js";

const options = {
  ...configOptions,
  ...tenantsOption,
  apply: {
    type: "boolean",
    default: false,
    help: "run the statements as the users of the connection strings, who need the rights to do so",
  },
  "new-passwords": {
    type: "boolean",
    default: false,
    help: "give existing users a new password",
  },
} as const satisfies Options;

interface Grants {
  readonly tenant: string;
  readonly storage: ServerStorage;
  readonly limits: ReaderLimits;
  /** The password for a user that is created or renewed. */
  readonly password: string;
  readonly renew: boolean;
}

/** Manages users of ClickHouse servers for BI tools, one per tenant. */
export const grants: Command = {
  usage: "grants --config FILE [--tenant NAME]... [--apply] [--new-passwords] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const config = await configurationOf(given, io);
    const tenants = selectTenants(config, given.tenant).flatMap((tenant) => {
      const storage = serverOf(tenant, given.tenant !== undefined);
      const password = randomBytes(24).toString("base64url");
      const { tenant_name } = tenant;
      return storage === undefined
        ? []
        : [
            {
              tenant: tenant_name,
              storage,
              limits: config.embedded.sql_limits,
              password,
              renew: given["new-passwords"],
            },
          ];
    });
    if (tenants.length === 0)
      throw new CommandError(
        "No tenant has its store on a ClickHouse server. For embedded ones, embedded.sql_users has the users.",
        1,
      );
    if (!given.apply) for (const grant of tenants) print(grant, io);
    else await applyAll(tenants, io);
    return 0;
  },
};

function serverOf({ tenant_name, storage }: TenantConfig, isNamed: boolean): ServerStorage | undefined {
  if (storage.kind === "server") return storage;
  if (!isNamed) return undefined;
  throw new CommandError(
    `The store of tenant ${tenant_name} is embedded: embedded.sql_users has its users.`,
    1,
  );
}

const sha256 = (password: string) => createHash("sha256").update(password).digest("hex");

/** Statements go to stdout, so that they can be piped. Passwords go to stderr, because they should not be stored. */
function print({ tenant, storage, limits, password, renew }: Grants, { stdout, stderr }: CommandIo): void {
  const { database } = storage;
  const statements = [
    ...roleStatements(storage, limits),
    createReader(storage, sha256(password)),
    ...(renew ? [changePassword(storage, sha256(password))] : []),
    ...readerStatements(storage),
  ];
  stdout.write(`-- Tenant ${tenant}: database ${database} on ${storage.urls.join(", ")}\n`);
  for (const statement of statements) stdout.write(`${statement};\n`);
  const condition = renew ? "" : ", if the user does not exist yet";
  stderr.write(`The password of ${readerName(database)}${condition}: ${password}. It is not shown again.\n`);
}

/** Passwords that were set are shown even if a later step fails. */
async function applyAll(tenants: readonly Grants[], { stdout, stderr }: CommandIo): Promise<void> {
  const rows: string[][] = [];
  try {
    for (const grant of tenants) {
      const { database, urls } = grant.storage;
      const addPassword = (password: string) =>
        rows.push([grant.tenant, urls.join(", "), readerName(database), password]);
      await apply(grant, addPassword);
    }
  } finally {
    if (rows.length > 0) {
      writeTable(stdout, { head: ["TENANT", "SERVER", "USER", "PASSWORD"], rows, keys: 4 });
      stderr.write("Passwords are not shown again.\n");
    }
  }
}

async function apply(
  { tenant, storage, limits, password, renew }: Grants,
  addPassword: (password: string) => void,
): Promise<void> {
  const { username, database } = storage;
  const setting = `tenants.${tenant}.storage.connection_string`;
  const client = await connect(storage).catch((error) => {
    throw new StoreNotOpenedError(setting, describeStorage(storage), error);
  });
  const run = async (statements: readonly string[]) => {
    for (const query of statements) await client.command({ query });
  };
  try {
    const users = await client.query({
      query: "SELECT name FROM system.users WHERE name = {name:String}",
      query_params: { name: readerName(database) },
      format: "JSONEachRow",
    });
    const exists = (await users.json()).length > 0;
    await run(roleStatements(storage, limits));
    if (!exists) await run([createReader(storage, sha256(password))]);
    else if (renew) await run([changePassword(storage, sha256(password))]);
    addPassword(exists && !renew ? "(unchanged)" : password);
    await run(readerStatements(storage));
  } catch (error) {
    if (isLostConnection(error)) throw new StoreNotOpenedError(setting, describeStorage(storage), error);
    throw new CommandError(
      `Tenant ${tenant}: ${describeStorage(storage)} refused user ${username}: ${errorMessage(error)}\n${adviceOn(error, setting)}`,
      1,
    );
  } finally {
    await client.close();
  }
}

/** Connects to the first host that responds. The users are created on the other hosts through the cluster. */
async function connect({ urls, username, password }: ServerStorage): Promise<ClickHouseClient> {
  const clientOf = (url: string) =>
    openClickHouseClient({
      url,
      username,
      password,
      database: "system",
      applicationName: "chargehouse grants",
    });
  const prepare = async (url: string) => {
    const client = clientOf(url);
    const ping = await client.ping().finally(() => client.close());
    if (!ping.success) throw ping.error;
  };
  return clientOf(await createHostChoice({ urls, prepare, onChange: () => undefined }).current());
}

function adviceOn(error: unknown, setting: string): string {
  if (error instanceof ClickHouseError && error.type === "AUTHENTICATION_FAILED")
    return `The user and the password are those of ${setting}.`;
  return "The user must be allowed to manage access (access_management, or GRANT CREATE USER, …).";
}
