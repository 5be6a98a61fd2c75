/** The startup message on a terminal. */
import { hostname } from 'node:os';
import { type Config, VENDOR_ADDRESS } from '@parlance/server/config';
import { version } from '../package.json' with { type: 'json' };

const LISTENS_EVERYWHERE = new Set(['0.0.0.0', '::']);

export type Started = {
  /** may have been set up in the console since */
  readonly model: Config['model'];
  /** address for a browser on this machine */
  readonly url: string;
  /** password of the user `admin`, if this start created it */
  readonly adminPassword: string | null;
};

type Row = readonly [name: string, ...lines: readonly string[]];

const INDENT = ' '.repeat(13);

export function bannerOf(config: Config, { model, url, adminPassword }: Started): string {
  const rows: readonly Row[] = [
    ['Open', url, ...elsewhere(config, url)],
    ['Model', ...modelLines(model)],
    ['Sign-in', config.auth === 'open' ? 'not required on this machine' : 'required'],
    ...(adminPassword === null ? [] : [['Admin', ...adminLines(config, adminPassword)] as const]),
    ['Data', config.database === undefined ? config.data : 'PostgreSQL'],
    ['Workspace', config.cwd],
  ];
  const shown = rows.map(([name, ...lines]) => `  ${name.padEnd(11)}${lines.join(`\n${INDENT}`)}`);
  return `\n  Parlance ${version}\n\n${shown.join('\n')}\n\n  Press Ctrl-C to stop.\n`;
}

const elsewhere = ({ host }: Config, url: string): readonly string[] =>
  LISTENS_EVERYWHERE.has(host) ? [`http://${hostname()}:${new URL(url).port} from other machines`] : [];

function modelLines(model: Started['model']): readonly string[] {
  if (model.provider !== 'offline') {
    const isVendorsOwn = model.baseUrl === VENDOR_ADDRESS[model.provider];
    return [`${model.model} ${isVendorsOwn ? `(${model.provider})` : `at ${model.baseUrl}`}`];
  }
  return [
    'offline demo model: connect a real one with “Connect a model” on the page,',
    'or with OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY; OPENAI_BASE_URL',
    'is for Ollama, vLLM and the like',
  ];
}

const adminLines = ({ auth }: Config, password: string): readonly string[] => [
  `user admin, password ${password} (shown only this time)`,
  ...(auth === 'open' ? ['needed to manage users, MCP servers, listeners and origins'] : []),
];
