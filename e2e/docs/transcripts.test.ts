/** The transcripts on the pages of the dialects happen as they are written there. */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { linesOf, requestOf } from './curl.ts';
import { socketDifference } from './socket.ts';
import { difference, type Exchange, exchangesIn, filledIn, type Names } from './transcript.ts';

const FOLDER = join(import.meta.dir, '../../docs/dialects');
const PAGES = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));

// A server for each page: sockets of some dialects receive all sessions.
test.each(PAGES)('%s has a transcript, and a server answers as it shows', async (name) => {
  const exchanges = exchangesIn(readFileSync(join(FOLDER, name), 'utf8'));
  expect(exchanges.length).toBeGreaterThan(0);
  const server = await startTestServer();
  try {
    const token = await server.login('dev', 'dev-password');
    const names: Names = new Map();
    for (const exchange of exchanges)
      expect(await differenceOf(hosted(exchange, server, token), names)).toBeNull();
  } finally {
    await server.stop();
  }
});

/** Address, folder and token of the server instead of those in the documentation. */
const hosted = ({ command, lines }: Exchange, server: TestServer, token: string): Exchange => ({
  command: command.replaceAll('127.0.0.1:3000', new URL(server.http).host).replaceAll('$TOKEN', token),
  lines: lines.map((line) => line.replaceAll('/home/ann/project', server.root)),
});

async function differenceOf({ command, lines }: Exchange, names: Names): Promise<string | null> {
  const filled = filledIn(command, names);
  if (filled.startsWith('npx wscat')) return socketDifference(filled, lines, names);
  const enough = (sent: readonly string[]) => difference(sent, lines, new Map(names)) === null;
  return difference(await linesOf(requestOf(filled), enough), lines, names);
}
