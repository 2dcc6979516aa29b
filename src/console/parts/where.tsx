/** The condition of a rule, in words. */
import { rules as text } from "../text/rules.js";

/** A condition of the API: a column or tag with a value, a list of values or a comparison; `any` has alternatives. */
type Condition = Readonly<Record<string, unknown>>;

/** The largest number of values of a list to show. */
const MAX_SHOWN = 5;

export function WhereText({ where }: { readonly where: Condition | undefined }) {
  const { any, ...all } = where ?? {};
  const conditions = Object.entries(all);
  const alternatives = Array.isArray(any) ? (any as Condition[]) : [];
  if (conditions.length + alternatives.length === 0) return <span class="hint">{text.everyLine}</span>;
  return (
    <>
      <All conditions={conditions} />
      {alternatives.length > 0 && (
        <>
          {conditions.length > 0 && ` ${text.and} `}
          {text.any}
          <ul>
            {alternatives.slice(0, MAX_SHOWN).map((each) => (
              <li key={JSON.stringify(each)}>
                <All conditions={Object.entries(each)} />
              </li>
            ))}
            {alternatives.length > MAX_SHOWN && <li>… {alternatives.length - MAX_SHOWN}</li>}
          </ul>
        </>
      )}
    </>
  );
}

function All({ conditions }: { readonly conditions: readonly [string, unknown][] }) {
  return (
    <>
      {conditions.map(([name, condition], index) => (
        <span key={name}>
          {index > 0 && ` ${text.and} `}
          <code>{name}</code> <bdi>{conditionText(condition)}</bdi>
        </span>
      ))}
    </>
  );
}

function conditionText(condition: unknown): string {
  if (typeof condition !== "object" || condition === null || Array.isArray(condition))
    return `${[condition].flat().some(isGlob) ? text.isLike : text.is} ${valuesText(condition)}`;
  const { not, matches, exists, above, below } = condition as Condition;
  return [
    ...(not === undefined ? [] : [`${text.isNot} ${valuesText(not)}`]),
    ...(matches === undefined ? [] : [`${text.matches} ${matches}`]),
    ...(exists === undefined ? [] : [exists === true ? text.exists : text.isMissing]),
    ...(above === undefined ? [] : [`${text.above} ${above}`]),
    ...(below === undefined ? [] : [`${text.below} ${below}`]),
  ].join(` ${text.and} `);
}

/** A `*` matches any text. */
const isGlob = (value: unknown) => String(value).includes("*");

function valuesText(values: unknown): string {
  const all = [values].flat().map(String);
  const more = all.length > MAX_SHOWN ? ` … (${all.length})` : "";
  return all.slice(0, MAX_SHOWN).join(` ${text.or} `) + more;
}
