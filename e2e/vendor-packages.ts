/** Starts a server and prints the modules of the AI SDK that it has loaded: after the start, and after a message. */
import { connect } from '@parlance/sdk';
import { startTestServer } from '../packages/server/src/testing/server.ts';

const loaded = (): string[] => Object.keys(require.cache).filter((path) => /@ai-sdk|ai-sdk\.ts$/.test(path));

const server = await startTestServer(JSON.parse(process.env.SETTINGS ?? '{}'));
const parlance = connect({ url: server.http });
await parlance.server();
const atStart = loaded();
const { text: answer } = await parlance.session().ask('Hello?');
console.log(JSON.stringify({ atStart, afterMessage: loaded(), answer }));
await server.stop();
process.exit(0);
