/** Sends requests from a separate process: certificates and proxies are settings of a process. */
import { join } from 'node:path';

export type Outcome =
  | { readonly status: number; readonly text: string }
  | { readonly code: string; readonly cause: string };

const SCRIPT = `
  const { socketClient: post } = await import(process.env.POST_MODULE);
  const outcomes = [];
  for (const url of JSON.parse(process.env.POST_URLS)) {
    try {
      const answer = await post({ url, headers: { authorization: 'Bearer secret' }, body: 'hello' }, new AbortController().signal);
      let text = '';
      for (let piece = await answer.body.read(); piece !== null; piece = await answer.body.read()) text += piece;
      outcomes.push({ status: answer.status, text });
    } catch (thrown) {
      outcomes.push({ code: String(thrown.code), cause: String(thrown.cause?.code) });
    }
  }
  console.log(JSON.stringify(outcomes));
`;

/** Sequentially. Resolves when the process has exited by itself, which idle connections must not prevent. */
export async function askInProcess(
  urls: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Outcome[]> {
  const child = Bun.spawn([process.execPath, '-e', SCRIPT], {
    env: {
      PATH: process.env.PATH,
      POST_MODULE: join(import.meta.dir, '../../../providers/http/socket-client.ts'),
      POST_URLS: JSON.stringify(urls),
      ...environment,
    },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const [output] = await Promise.all([child.stdout.text(), child.exited]);
  return JSON.parse(output) as Outcome[];
}
