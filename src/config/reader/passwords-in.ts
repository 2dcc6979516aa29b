/**
 * Returns the passwords in a connection string, both as written and decoded. Other parts, such as the host, may appear
 * in messages.
 */
export function passwordsIn(connectionString: string): string[] {
  const [, rest = ""] = /^[a-z]+:\/\/(.*)$/is.exec(connectionString) ?? [];
  const [address = "", ...query] = rest.split(/[?&]/);
  const userinfo = address.slice(0, Math.max(0, address.lastIndexOf("@")));
  const passwords = [
    ...(userinfo.includes(":") ? [userinfo.slice(userinfo.indexOf(":") + 1)] : []),
    ...query.flatMap((pair) => /^(?:ssl)?password=(.*)$/is.exec(pair)?.[1] ?? []),
  ];
  return passwords.flatMap((each) => [each, decoded(each)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
