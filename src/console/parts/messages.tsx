/** Loading states, errors and empty states. */
import type { ComponentChildren } from "preact";
import { ApiRequestError } from "../api/client.js";
import type { Data } from "../state/use-data.js";
import { en } from "../text/en.js";

export function FailureMessage({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
}) {
  const known = error instanceof ApiRequestError;
  return (
    <div class="message error" role="alert">
      <strong>{en.failed.title}</strong>
      <p>{known ? error.message : en.failed.unreachable}</p>
      {known && (
        <p class="hint">
          {error.code}
          {error.requestId !== undefined && ` · ${en.failed.request(error.requestId)}`}
        </p>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          {en.failed.retry}
        </button>
      )}
    </div>
  );
}

/** The API's error message next to the field that it rejected. */
export function FieldError({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <span class="field-error" role="alert">
      {error instanceof ApiRequestError ? error.message : en.failed.unreachable}
    </span>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="message">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Most of a window. */
const MAIN_HEIGHT = "80vh";

/** Stands for a part that is loading, and for all parts below it. */
export function Loading({ height = MAIN_HEIGHT }: { readonly height?: string }) {
  return (
    <div class="loading" role="status" style={{ minHeight: height }}>
      {en.loading}
    </div>
  );
}

interface ShownDataProps<T> {
  readonly data: Data<T>;
  /** Height to reserve while the first response is loading, such as `20rem`. */
  readonly height?: string;
  /** Whether this part is most of the view. */
  readonly isMain?: boolean;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows loaded data. An older response is dimmed while a new one is loading; an error is shown above it. */
export function Shown<T>({ data, height = "8rem", isMain = false, children }: ShownDataProps<T>) {
  const { value, error, isStale, reload } = data;
  return (
    <>
      {error !== undefined && <FailureMessage error={error} retry={reload} />}
      {value !== undefined ? (
        // Keys, because an element that is reused would count as moved.
        <div key="shown" class={isStale ? "shown stale" : "shown"} aria-busy={isStale && error === undefined}>
          {isStale && error === undefined && (
            <div class="updating" role="status">
              {en.loading}
            </div>
          )}
          <div class="answer">{children(value)}</div>
        </div>
      ) : (
        error === undefined && <Loading key="loading" height={isMain ? MAIN_HEIGHT : height} />
      )}
    </>
  );
}
