/**
 * Substitutes environment variables in values: `${NAME}`, `${NAME:-default}`, and `$${` for a literal `${`.
 *
 * A variable that is set but empty counts as set. Values of variables are not searched for further `${…}`. A `${` in no
 * such form is a problem, rather than a literal by accident.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Substituted {
  text: string;
  /** True if any of the text came from a variable or its default. Such a text is never shown. */
  fromEnvironment: boolean;
  /** Sentences without file, line and path. */
  problems: string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function resolve(reference: string, env: Environment): { text: string } | { problem: string } {
  const split = reference.indexOf(":-");
  const name = split < 0 ? reference : reference.slice(0, split);
  if (!NAME.test(name)) {
    return {
      problem: `holds a "\${…}" that is not "\${NAME}" or "\${NAME:-default}"; a literal "\${" is written "$\${"`,
    };
  }
  // Own keys only, so that `${constructor}` is unset rather than a function.
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return { text: value };
  if (split < 0) {
    return { problem: `environment variable ${name} is not set, and has no default (\${${name}:-default})` };
  }
  const fallback = reference.slice(split + 2);
  if (fallback.includes("${")) return { problem: `the default of \${${name}:-…} cannot hold another \${…}` };
  return { text: fallback };
}

export function substitute(source: string, env: Environment): Substituted {
  const result: Substituted = { text: "", fromEnvironment: false, problems: [] };
  let rest = source;
  for (let at = rest.indexOf("${"); at >= 0; at = rest.indexOf("${")) {
    if (rest[at - 1] === "$") {
      result.text += `${rest.slice(0, at - 1)}\${`;
      rest = rest.slice(at + 2);
      continue;
    }
    const end = rest.indexOf("}", at);
    if (end < 0) {
      result.problems.push(`holds a "\${" that no "}" closes; a literal "\${" is written "$\${"`);
      return result;
    }
    const resolved = resolve(rest.slice(at + 2, end), env);
    result.fromEnvironment = true;
    result.text += rest.slice(0, at);
    if ("text" in resolved) result.text += resolved.text;
    else result.problems.push(resolved.problem);
    rest = rest.slice(end + 1);
  }
  result.text += rest;
  return result;
}
