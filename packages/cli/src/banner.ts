/** What a person who starts the server at a terminal is shown. */
import type { Config } from '@parlance/server/config';
import { version } from '../package.json' with { type: 'json' };

const LISTENS_EVERYWHERE = new Set(['0.0.0.0', '::']);

export function bannerOf(config: Config, url: string): string {
  const rows: [name: string, value: string][] = [
    ['Open', LISTENS_EVERYWHERE.has(config.host) ? `${url} (or any name of this machine)` : url],
    ['Model', modelOf(config)],
    ['Sign-in', config.auth === 'open' ? 'not required on this machine' : 'required'],
    ['Data', config.database === undefined ? config.data : 'PostgreSQL'],
    ['Workspace', config.cwd],
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(11)}${value}`);
  return `\n  Parlance ${version}\n\n${lines.join('\n')}\n\n  Press Ctrl-C to stop.\n`;
}

function modelOf({ model }: Config): string {
  if (model.provider !== 'offline') return `${model.model} (${model.provider})`;
  return 'offline demo model: connect a real one with OPENAI_API_KEY, ANTHROPIC_API_KEY,\n             GOOGLE_API_KEY, or OPENAI_BASE_URL for Ollama, vLLM and the like';
}
