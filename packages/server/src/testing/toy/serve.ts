/** Serves the toy dialect next to those of the index, in its own process. */
import { loadConfig } from '../../config/config.ts';
import { DIALECTS } from '../../dialects/index.ts';
import { startServer } from '../../main.ts';
import { toy } from './dialect.ts';

const { host, port } = await startServer(loadConfig([], process.env, process.cwd()), [...DIALECTS, toy]);
console.log(`parlance listening on http://${host}:${port}`);
