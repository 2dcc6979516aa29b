/** Certificate files: refusals, and detection of renewed files. */
import { chmodSync, unlinkSync } from "node:fs";
import t from "tap";
import { readCertificate } from "../../src/common/tls/certificate.js";
import { watchCertificate } from "../../src/common/tls/renewal.js";
import { certificateFiles, encryptedKey, expired, first, renewed } from "../certificates.js";
import { until } from "../until.js";

t.test("a certificate and its key are read", async (t) => {
  const { settings, renew } = certificateFiles(t);
  const found = await readCertificate(settings, "api.tls");
  t.strictSame(found.options, { cert: first.certificate, key: first.key, minVersion: "TLSv1.2" });
  t.ok(found.validUntil > new Date("2120-01-01"));
  renew(expired);
  t.equal(
    (await readCertificate(settings, "api.tls")).validUntil.toISOString(),
    "2021-01-01T00:00:00.000Z",
    "an expired certificate is read and reported with its end, because refusing it would only stop the service",
  );
});

t.test("an invalid file is refused with the setting, the path and the reason", async (t) => {
  const { settings, renew } = certificateFiles(t);
  const { certificate_file: certificate, key_file: key } = settings;
  const refusal = async (changed: Partial<typeof settings> = {}) => {
    try {
      await readCertificate({ ...settings, ...changed }, "api.tls");
      return "nothing";
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : "";
    }
  };
  t.equal(await refusal(), "nothing");
  t.equal(
    await refusal({ certificate_file: "/nowhere/c.pem" }),
    "CertificateError: api.tls.certificate_file: /nowhere/c.pem is not there",
  );
  t.equal(
    await refusal({ key_file: "/dev/zero" }),
    "CertificateError: api.tls.key_file: /dev/zero is not a file",
  );
  t.equal(
    await refusal({ certificate_file: key }),
    `CertificateError: api.tls.certificate_file: ${key} contains no PEM certificate`,
  );
  renew({ key: renewed.key });
  t.equal(
    await refusal(),
    `CertificateError: api.tls.key_file: ${key} is not the key of the first certificate in certificate_file`,
  );
  renew({ key: encryptedKey });
  t.equal(
    await refusal(),
    `CertificateError: api.tls.key_file: ${key} is encrypted. The service cannot enter a passphrase: use an unencrypted key`,
  );
  renew({ key: "-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----\n" });
  t.equal(await refusal(), `CertificateError: api.tls.key_file: ${key} contains no PEM private key`);
  renew(first);
  for (const [mode, isOpen] of [
    [0o600, false],
    [0o640, false],
    [0o440, false],
    [0o644, true],
    [0o602, true],
    [0o601, true],
  ] as const) {
    chmodSync(key, mode);
    const expected = `CertificateError: api.tls.key_file: ${key} is accessible by all users of this machine (mode 0${mode.toString(8)}): run chmod o= ${key}`;
    t.equal(await refusal(), isOpen ? expected : "nothing", mode.toString(8));
  }
  chmodSync(key, 0o600);
  chmodSync(certificate, 0o644);
  t.equal(await refusal(), "nothing", "a certificate is for everybody");
});

t.test("a renewed certificate is used, and an incomplete one is not", async (t) => {
  const { settings, renew } = certificateFiles(t);
  const used: string[] = [];
  const problems: string[] = [];
  const renewal = watchCertificate({
    settings,
    section: "api.tls",
    everyMs: 5,
    current: await readCertificate(settings, "api.tls"),
    use: ({ options }) => void used.push(options.cert),
    onProblem: (problem) => void problems.push(problem),
  });
  t.teardown(() => renewal.stop());
  const mismatch = `api.tls.key_file: ${settings.key_file} is not the key of the first certificate in certificate_file`;
  await renewal.check();
  t.strictSame([used, problems], [[], []], "nothing changed");
  renew({ certificate: renewed.certificate });
  await renewal.check();
  await renewal.check();
  t.strictSame([used, problems], [[], [mismatch]], "the problem is reported once");
  renew({ key: renewed.key });
  await until("the other half to be noticed by the regular check", () => used.length > 0);
  unlinkSync(settings.key_file);
  await renewal.check();
  await renewal.check();
  renew(first);
  await renewal.check();
  renewal.stop();
  renew(renewed);
  await renewal.check();
  t.strictSame(used, [renewed.certificate, first.certificate], "none after it is stopped");
  t.strictSame(problems, [mismatch, `api.tls.key_file: ${settings.key_file} is not there`]);
});
