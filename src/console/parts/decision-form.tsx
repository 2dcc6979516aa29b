/** A form that saves what a person decides, with the reason and the author. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useChange } from "../state/use-change.js";
import { en } from "../text/en.js";
import { Field } from "./controls.js";
import { FieldError } from "./messages.js";
import { Author, useAuthor } from "./tag-editor.js";

const LONGEST_REASON = 500;

interface DecisionFormProps {
  readonly hint: string;
  /** Text of the button. */
  readonly submit: string;
  readonly save: (by: { readonly reason: string; readonly created_by: string }) => Promise<unknown>;
  /** Shown once it is saved. */
  readonly done: () => ComponentChildren;
  /** Fields of the decision. */
  readonly children: ComponentChildren;
}

export function DecisionForm({ hint, submit, save, done, children }: DecisionFormProps) {
  const [reason, setReason] = useState("");
  const [saved, setSaved] = useState<ComponentChildren>();
  const { author, setAuthor, remember } = useAuthor();
  const { error, isBusy, change } = useChange();
  const send = async () => {
    remember();
    setSaved(undefined);
    if (await change(() => save({ reason, created_by: author }))) setSaved(done());
  };
  return (
    <form
      aria-label={submit}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <p class="hint">{hint}</p>
      <div class="controls">
        {children}
        <Field label={en.assign.reason} value={reason} maxLength={LONGEST_REASON} onInput={setReason} />
        <Author author={author} setAuthor={setAuthor} />
        <button type="submit" class="primary" disabled={isBusy}>
          {submit}
        </button>
      </div>
      <FieldError error={error} />
      <p role="status">{saved}</p>
    </form>
  );
}
