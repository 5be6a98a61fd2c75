/** Starts a server and prints its modules whose path contains one of the given texts: after the start, and after a message. */
import { connect } from '@parlance/sdk';
import { startTestServer } from '../packages/server/src/testing/server.ts';

const { settings, paths, message } = JSON.parse(process.env.GIVEN ?? '') as {
  settings: Record<string, string>;
  paths: string[];
  message: string;
};
const loaded = (): string[] =>
  Object.keys(require.cache).filter((path) => paths.some((part) => path.includes(part)));

const server = await startTestServer(settings);
const parlance = connect({ url: server.http });
await parlance.server();
const atStart = loaded();
const { text: answer } = await parlance.session().ask(message, { onApproval: () => 'once' as const });
console.log(JSON.stringify({ atStart, afterMessage: loaded(), answer }));
await server.stop();
process.exit(0);
