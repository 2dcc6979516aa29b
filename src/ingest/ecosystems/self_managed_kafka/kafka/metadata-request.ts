/**
 * Two requests of the Kafka protocol: the API versions of a broker, and the metadata of the whole cluster.
 *
 * The client's own admin calls are not used: they request versions that brokers before Kafka 2.4 and several compatible
 * systems do not support, and fail completely if a single partition has no leader. Versions 2 (Kafka 0.10.1) to 12 of
 * the metadata are supported here, which covers any broker of the last ten years. https://kafka.apache.org/protocol
 */
import type { Connection, Reader, Writer } from "@platformatic/kafka";

export interface BrokerMetadata {
  /** Null if the broker does not state it. */
  readonly clusterId: string | null;
  readonly brokers: readonly KafkaBroker[];
  readonly topics: readonly KafkaTopic[];
}

export interface KafkaBroker {
  readonly id: number;
  readonly host: string;
  readonly port: number;
  readonly rack: string | null;
}

export interface KafkaTopic {
  readonly name: string;
  /** A topic of Kafka itself, such as `__consumer_offsets`. */
  readonly internal: boolean;
  readonly partitions: number;
}

export type NewWriter = () => Writer;

const METADATA = 3;
const API_VERSIONS = 18;
const OLDEST = 2;
const NEWEST = 12;

/** The broker cannot be queried, or returned an error. */
export class KafkaProtocolError extends Error {
  override readonly name = "KafkaProtocolError";
}

export async function requestMetadata(connection: Connection, newWriter: NewWriter): Promise<BrokerMetadata> {
  const version = await metadataVersion(connection, newWriter);
  const flexible = version >= 9;
  return await send(connection, {
    apiKey: METADATA,
    version,
    flexible,
    payload: () => allTopics(newWriter(), version),
    read: (reader) => readMetadata(reader, version),
  });
}

/** Every broker supports version 0 of this request. */
async function metadataVersion(connection: Connection, newWriter: NewWriter): Promise<number> {
  const spoken = await send(connection, {
    apiKey: API_VERSIONS,
    version: 0,
    flexible: false,
    payload: newWriter,
    read: (reader) => ({
      error: reader.readInt16(),
      apis: reader.readArray(
        (r) => ({ key: r.readInt16(), oldest: r.readInt16(), newest: r.readInt16() }),
        false,
        false,
      ),
    }),
  });
  if (spoken.error !== 0) throw new KafkaProtocolError(`the broker returned error ${spoken.error}`);
  const metadata = spoken.apis.find(({ key }) => key === METADATA);
  if (metadata === undefined || metadata.newest < OLDEST || metadata.oldest > NEWEST) {
    throw new KafkaProtocolError(
      `the broker speaks versions ${metadata?.oldest} to ${metadata?.newest} of the metadata request, and ${OLDEST} to ${NEWEST} are known`,
    );
  }
  return Math.min(metadata.newest, NEWEST);
}

function allTopics(writer: Writer, version: number): Writer {
  const flexible = version >= 9;
  writer.appendArray(null, () => undefined, flexible, false);
  if (version >= 4) writer.appendBoolean(false); // allow_auto_topic_creation
  if (version >= 8 && version <= 10) writer.appendBoolean(false); // include_cluster_authorized_operations
  if (version >= 8) writer.appendBoolean(false); // include_topic_authorized_operations
  return flexible ? writer.appendTaggedFields() : writer;
}

function readMetadata(reader: Reader, version: number): BrokerMetadata {
  const flexible = version >= 9;
  if (version >= 3) reader.readInt32(); // throttle_time_ms
  const brokers = reader.readArray(
    (r) => ({
      id: r.readInt32(),
      host: r.readString(flexible),
      port: r.readInt32(),
      rack: r.readNullableString(flexible),
    }),
    flexible,
    flexible,
  );
  const clusterId = reader.readNullableString(flexible);
  reader.readInt32(); // controller_id
  const topics = reader.readArray((r) => readTopic(r, version), flexible, flexible);
  return { clusterId, brokers, topics: topics.filter(({ name }) => name !== "") };
}

/** Errors of a topic or a partition (no leader at the moment) are ignored: it is still a topic. */
function readTopic(reader: Reader, version: number): KafkaTopic {
  const flexible = version >= 9;
  reader.readInt16(); // error_code
  const name = reader.readNullableString(flexible) ?? "";
  if (version >= 10) reader.readUUID();
  const internal = reader.readBoolean();
  const partitions = reader.readArray((r) => readPartition(r, version), flexible, flexible);
  if (version >= 8) reader.readInt32(); // topic_authorized_operations
  return { name, internal, partitions: partitions.length };
}

function readPartition(reader: Reader, version: number): number {
  const flexible = version >= 9;
  const replicas = () => reader.readArray((r) => r.readInt32(), flexible, false);
  reader.readInt16(); // error_code
  const index = reader.readInt32();
  reader.readInt32(); // leader_id
  if (version >= 7) reader.readInt32(); // leader_epoch
  replicas(); // replica_nodes
  replicas(); // isr_nodes
  if (version >= 5) replicas(); // offline_replicas
  return index;
}

interface Request<Response> {
  readonly apiKey: number;
  readonly version: number;
  /** Uses compact encodings and tagged fields, also in the headers. */
  readonly flexible: boolean;
  readonly payload: () => Writer;
  readonly read: (reader: Reader) => Response;
}

function send<Response>(connection: Connection, request: Request<Response>): Promise<Response> {
  const { apiKey, version, flexible, payload, read } = request;
  return new Promise((resolve, reject) => {
    connection.send<Response>(
      apiKey,
      version,
      payload,
      (_correlation, _key, _version, reader) => read(reader),
      flexible,
      flexible,
      (error, response) => {
        if (error !== null && error !== undefined) reject(error);
        else if (response === undefined) reject(new KafkaProtocolError("the broker's response is empty"));
        else resolve(response);
      },
    );
  });
}
