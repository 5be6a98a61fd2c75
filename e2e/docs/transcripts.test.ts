/** The transcripts on the pages of the dialects happen as they are written there. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { linesOf, requestOf } from './curl.ts';
import { socketDifference } from './socket.ts';
import { difference, type Exchange, exchangesIn, filledIn, type Names } from './transcript.ts';

const FOLDER = join(import.meta.dir, '../../docs/dialects');
const PAGES = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe.each(PAGES)('%s', (name) => {
  const exchanges = exchangesIn(readFileSync(join(FOLDER, name), 'utf8'));

  test('has a transcript, and a server answers as it shows', async () => {
    expect(exchanges.length).toBeGreaterThan(0);
    const names: Names = new Map();
    const token = await server.login('dev', 'dev-password');
    const problems: (string | null)[] = [];
    for (const exchange of exchanges) problems.push(await differenceOf(hosted(exchange, token), names));
    expect(problems).toEqual(exchanges.map(() => null));
  });
});

/** Addresses, the token and the folder of this server instead of those in the documentation. */
const hosted = ({ command, lines }: Exchange, token: string): Exchange => ({
  command: command.replaceAll('127.0.0.1:3000', new URL(server.http).host).replaceAll('$TOKEN', token),
  lines: lines.map((line) => line.replaceAll('/home/ann/project', server.root)),
});

async function differenceOf({ command, lines }: Exchange, names: Names): Promise<string | null> {
  const filled = filledIn(command, names);
  if (filled.startsWith('npx wscat')) return socketDifference(filled, lines, names);
  const request = requestOf(filled);
  const enough = (sent: readonly string[]) => difference(sent, lines, new Map(names)) === null;
  return difference(await linesOf(request, enough), lines, names);
}
