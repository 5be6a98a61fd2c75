/** The startup message on a terminal. */
import type { Config } from '@parlance/server/config';
import { version } from '../package.json' with { type: 'json' };

const LISTENS_EVERYWHERE = new Set(['0.0.0.0', '::']);

type Model = Config['model'];

/** `model` may have been set up in the console since. */
export function bannerOf(config: Config, model: Model, url: string): string {
  const rows: [name: string, value: string][] = [
    ['Open', LISTENS_EVERYWHERE.has(config.host) ? `${url} (or any name of this machine)` : url],
    ['Model', modelOf(model)],
    ['Sign-in', config.auth === 'open' ? 'not required on this machine' : 'required'],
    ['Data', config.database === undefined ? config.data : 'PostgreSQL'],
    ['Workspace', config.cwd],
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(11)}${value}`);
  return `\n  Parlance ${version}\n\n${lines.join('\n')}\n\n  Press Ctrl-C to stop.\n`;
}

function modelOf(model: Model): string {
  if (model.provider !== 'offline') return `${model.model} (${model.provider})`;
  const more = ' '.repeat(13);
  return `offline demo model: connect a real one with “Connect a model” on the page,\n${more}or with OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY; OPENAI_BASE_URL\n${more}is for Ollama, vLLM and the like`;
}
