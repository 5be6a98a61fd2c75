/** A certificate for 127.0.0.1, and the authority that signed it. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';

export const openssl = Bun.which('openssl');

export type TestCertificate = {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  readonly folder: string;
};

export async function makeCertificate(): Promise<TestCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-tls-'));
  const [key, certificate, request] = ['key.pem', 'certificate.pem', 'request.pem'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const [authorityKey, authority, extensions] = ['ca-key.pem', 'ca.pem', 'extensions'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await Bun.write(extensions, 'subjectAltName=IP:127.0.0.1\n');
  await $`openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ${authorityKey} -out ${authority}`.quiet();
  await $`openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout ${key} -out ${request}`.quiet();
  await $`openssl x509 -req -in ${request} -CA ${authority} -CAkey ${authorityKey} -CAcreateserial -days 2 -extfile ${extensions} -out ${certificate}`.quiet();
  return { certificate, key, authority, folder };
}
