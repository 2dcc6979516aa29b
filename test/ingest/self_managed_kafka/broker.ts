/**
 * A broker with the part of Kafka's protocol that an admin client needs, with TLS and SASL, which librdkafka's mock
 * cluster does not have: PLAIN and both SCRAM mechanisms, and any versions of the metadata. Other clients are tested
 * against it as well, so that it does not share a mistake with ours.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { Reader, Writer } from "@platformatic/kafka";
import type { Test } from "tap";

export interface BrokerScript {
  /** Versions of the metadata request. Default 0 to 12. */
  readonly metadata?: readonly [oldest: number, newest: number];
  readonly topics?: readonly string[];
  readonly tls?: TlsOptions;
  readonly sasl?: { readonly mechanism: string; readonly username: string; readonly password: string };
  /** Called for each request instead of responding. */
  readonly mute?: () => void;
}

export interface ScriptedBroker {
  readonly server: string;
  readonly port: number;
  /** Keys and versions of the requests. */
  readonly requests: [key: number, version: number][];
}

const METADATA = 3;
const HANDSHAKE = 17;
const API_VERSIONS = 18;
const AUTHENTICATE = 36;

export async function startBroker(t: Test, script: BrokerScript = {}): Promise<ScriptedBroker> {
  const requests: [number, number][] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    const session = { authenticated: script.sasl === undefined, scram: newScram(script) };
    let pending = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 4 && pending.length >= 4 + pending.readInt32BE(0)) {
        const end = 4 + pending.readInt32BE(0);
        const request = pending.subarray(4, end);
        pending = pending.subarray(end);
        if (script.mute !== undefined) {
          script.mute();
          continue;
        }
        requests.push([request.readInt16BE(0), request.readInt16BE(2)]);
        const response = received(request, script, session, port);
        if (response === undefined) socket.destroy();
        else socket.write(response);
      }
    });
  };
  const server = script.tls === undefined ? createServer(serve) : createTlsServer(script.tls, serve);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { server: `127.0.0.1:${port}`, port, requests };
}

interface Session {
  authenticated: boolean;
  readonly scram: (message: string) => string | undefined;
}

/** The response, or undefined to hang up. */
function received(request: Buffer, script: BrokerScript, session: Session, port: number): Buffer | undefined {
  const reader = Reader.from(request);
  const [key, version, correlation] = [reader.readInt16(), reader.readInt16(), reader.readInt32()];
  reader.readNullableString(false); // client_id
  const writer = Writer.create().appendInt32(correlation);
  if (key === API_VERSIONS) apiVersions(writer, version, script);
  else if (key === HANDSHAKE) handshake(writer, reader, script);
  else if (key === AUTHENTICATE) authenticate(writer, reader, { version, script, session });
  else if (key === METADATA && session.authenticated) metadata(writer, version, { script, port });
  else return undefined;
  return writer.prependLength().buffer;
}

/** The header of this one response has no tagged fields in any version. */
function apiVersions(writer: Writer, requested: number, { metadata = [0, 12] }: BrokerScript): void {
  const version = requested > 3 ? 0 : requested;
  const apis = [
    [METADATA, ...metadata],
    [HANDSHAKE, 0, 1],
    [API_VERSIONS, 0, 3],
    [AUTHENTICATE, 0, 2],
  ];
  const flexible = version >= 3;
  writer.appendInt16(requested > 3 ? 35 : 0);
  writer.appendArray(
    apis,
    (w, numbers) => {
      for (const number of numbers) w.appendInt16(number);
    },
    flexible,
    flexible,
  );
  if (version >= 1) writer.appendInt32(0);
  if (flexible) writer.appendTaggedFields();
}

function handshake(writer: Writer, reader: Reader, { sasl }: BrokerScript): void {
  const fits = reader.readString(false) === sasl?.mechanism;
  writer
    .appendInt16(fits ? 0 : 33)
    .appendArray([sasl?.mechanism ?? ""], (w, m) => w.appendString(m, false), false, false);
}

function authenticate(
  writer: Writer,
  reader: Reader,
  { version, script, session }: { version: number; script: BrokerScript; session: Session },
): void {
  const flexible = version >= 2;
  if (flexible) {
    reader.readTaggedFields();
    writer.appendTaggedFields();
  }
  const message = reader.readBytes(flexible).toString();
  const { sasl } = script;
  const said =
    sasl?.mechanism === "PLAIN"
      ? message === `\0${sasl.username}\0${sasl.password}`
        ? ""
        : undefined
      : session.scram(message);
  if (said !== undefined && (said === "" || said.startsWith("v="))) session.authenticated = true;
  writer.appendInt16(said === undefined ? 58 : 0);
  writer.appendString(said === undefined ? "Authentication failed" : null, flexible);
  writer.appendBytes(Buffer.from(said ?? ""), flexible);
  if (version >= 1) writer.appendInt64(0n);
  if (flexible) writer.appendTaggedFields();
}

/** The server's half of RFC 5802: first and final message, undefined for a wrong proof. */
function newScram({ sasl }: BrokerScript): Session["scram"] {
  const digest = sasl?.mechanism === "SCRAM-SHA-512" ? "sha512" : "sha256";
  const salt = randomBytes(16);
  const hmac = (key: Buffer, text: string) => createHmac(digest, key).update(text).digest();
  let clientFirst = "";
  let serverFirst = "";
  return (message) => {
    if (message.startsWith("n,")) {
      clientFirst = message.replace(/^n,[^,]*,/, "");
      const nonce = /r=(.*)$/.exec(clientFirst)?.[1] ?? "";
      if (!clientFirst.startsWith(`n=${sasl?.username},`)) return undefined;
      serverFirst = `r=${nonce}${randomBytes(12).toString("hex")},s=${salt.toString("base64")},i=4096`;
      return serverFirst;
    }
    const [, withoutProof = "", proof = ""] = /^(.*),p=(.*)$/.exec(message) ?? [];
    const salted = pbkdf2Sync(sasl?.password ?? "", salt, 4096, digest === "sha512" ? 64 : 32, digest);
    const clientKey = hmac(salted, "Client Key");
    const storedKey = createHash(digest).update(clientKey).digest();
    const authMessage = `${clientFirst},${serverFirst},${withoutProof}`;
    const signature = hmac(storedKey, authMessage);
    const wanted = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
    const given = Buffer.from(proof, "base64");
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    return `v=${hmac(hmac(salted, "Server Key"), authMessage).toString("base64")}`;
  };
}

const UUID = "00000000-0000-0000-0000-000000000001";

/** One broker; each topic has two partitions, of which the second has no leader at the moment. */
function metadata(
  writer: Writer,
  version: number,
  { script, port }: { script: BrokerScript; port: number },
): void {
  const flexible = version >= 9;
  if (flexible) writer.appendTaggedFields();
  if (version >= 3) writer.appendInt32(0);
  writer.appendArray(
    [port],
    (w) => {
      w.appendInt32(7).appendString("127.0.0.1", flexible).appendInt32(port);
      if (version >= 1) w.appendString("rack-a", flexible);
    },
    flexible,
    flexible,
  );
  if (version >= 2) writer.appendString("the-cluster", flexible);
  if (version >= 1) writer.appendInt32(7);
  const replicas = (w: Writer) => w.appendArray([7], (each, id) => each.appendInt32(id), flexible, false);
  writer.appendArray(
    [...(script.topics ?? ["orders"])],
    (w, topic) => {
      w.appendInt16(0).appendString(topic, flexible);
      if (version >= 10) w.appendUUID(UUID);
      if (version >= 1) w.appendBoolean(topic.startsWith("__"));
      w.appendArray(
        [0, 1],
        (partition, index) => {
          partition
            .appendInt16(index === 1 ? 5 : 0)
            .appendInt32(index)
            .appendInt32(index === 1 ? -1 : 7);
          if (version >= 7) partition.appendInt32(3);
          replicas(partition);
          replicas(partition);
          if (version >= 5) replicas(partition);
        },
        flexible,
        flexible,
      );
      if (version >= 8) w.appendInt32(-2147483648);
    },
    flexible,
    flexible,
  );
  if (version >= 8 && version <= 10) writer.appendInt32(-2147483648);
  if (flexible) writer.appendTaggedFields();
}
