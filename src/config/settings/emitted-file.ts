/**
 * Names of emitted files. A template is a plain file name with placeholders. For any values of the placeholders, the
 * result is a file name inside the folder, and different values give different names.
 */
import { parse } from "node:path";
import type { Parsed } from "../reader/setting.js";

export const filePlaceholders = ["tenant_id", "tenant_name", "date", "month", "emitter", "pipeline"] as const;
export type FilePlaceholder = (typeof filePlaceholders)[number];

/** File systems allow 255 bytes. The rest is for the prefix that a file has while it is written. */
export const LONGEST_FILE_NAME = 200;

const listed = filePlaceholders.map((name) => `{${name}}`).join(", ");

export const TEMPLATE_EXPECTED = `a file name of printable characters, without folders, with ${listed}`;

const PLACEHOLDER = /\{([^{}]*)\}/g;

export function parseTemplate(text: string): Parsed {
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
  const unknown = names.some((name) => !filePlaceholders.some((known) => known === name));
  if (unknown || /[{}]/.test(text.replaceAll(PLACEHOLDER, ""))) {
    return { problem: `must have no other braces than those of ${listed}` };
  }
  if (/[/\\]/.test(text)) return { problem: "must be a file name: folders belong in output_dir" };
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return { problem: "must contain no control characters" };
  if (/^[. ]|[. ]$/.test(text)) return { problem: "must not begin or end with a full stop or a space" };
  return { value: text };
}

/** Returns which placeholders of the period a template contains. */
export function filePeriods(template: string): { readonly date: boolean; readonly month: boolean } {
  return { date: template.includes("{date}"), month: template.includes("{month}") };
}

export interface EmittedFile {
  readonly tenantName: string;
  readonly tenantId: string;
  readonly pipeline: string;
  /** The day of the file's rows, or the first day of their month. */
  readonly firstDay: string;
  /** True if some rows may still change. Default false. */
  readonly provisional?: boolean;
}

const PROVISIONAL = ".provisional";

/** The parts of an emitter that file names depend on. */
interface NamingEmitter {
  readonly name?: string | undefined;
  readonly type: string;
  readonly params: { readonly filename_template: string };
}

export function fileNameOf(emitter: NamingEmitter, file: EmittedFile): string {
  const values: Readonly<Record<FilePlaceholder, string>> = {
    tenant_id: file.tenantId,
    tenant_name: file.tenantName,
    emitter: emitter.name ?? emitter.type,
    pipeline: file.pipeline,
    date: file.firstDay,
    month: file.firstDay.slice(0, 7),
  };
  const filled = (template: string) =>
    template.replaceAll(PLACEHOLDER, (_, name: FilePlaceholder) => safeName(values[name]));
  const { name, ext } = parse(emitter.params.filename_template);
  return `${filled(name)}${file.provisional ? PROVISIONAL : ""}${filled(ext)}`;
}

/**
 * Percent-encodes a value where needed, including a leading full stop, so that no value gives a hidden file or `..`.
 */
export function safeName(value: string): string {
  const encoded = [...Buffer.from(value)].map((byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9._-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return encoded.join("").replace(/^\./, "%2E");
}
