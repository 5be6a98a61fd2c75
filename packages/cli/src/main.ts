/** `parlance COMMAND`. Commands are loaded on demand, to keep startup fast. */
import { version } from '../package.json' with { type: 'json' };
import { CommandError, printStderr } from './command.ts';

const USAGE = `Usage: parlance COMMAND

  chat       talk to an agent in the terminal, or from a script; parlance chat --help
  sessions   list and search sessions; parlance sessions --help
  usage      tokens and costs of models; parlance usage --help
  open       open the console in the browser; parlance open --help
  init       choose a model and write the configuration; parlance init --help
  doctor     check the installation; parlance doctor --help
  login      sign in at a server; parlance login --help

  serve      start the server; parlance serve --help lists its settings
  mcp        speak MCP on standard input and output; parlance mcp --help
  acp        speak the Agent Client Protocol, for editors; parlance acp --help
  user       add, list, change and remove users; parlance user --help
  key        add, list and revoke API keys; parlance key --help
  pair       connect the browser extension that shows a code; parlance pair --help
  export     write sessions as JSON lines; parlance export --help
  import     read sessions written by export; parlance import --help
  backup     copy the data folder of a running server; parlance backup --help

  --help     show this
  --version  show the version`;

/** Resolves with the exit code, or null if the process keeps running. */
async function run([command, ...rest]: string[]): Promise<number | null> {
  switch (command) {
    case 'chat':
      return (await import('./commands/chat.ts')).chat(rest);
    case 'sessions':
      return (await import('./commands/sessions.ts')).sessions(rest);
    case 'usage':
      return (await import('./commands/usage.ts')).usage(rest);
    case 'open':
      return (await import('./commands/open.ts')).open(rest);
    case 'init':
      return (await import('./commands/init.ts')).init(rest);
    case 'doctor':
      return (await import('./commands/doctor.ts')).doctor(rest);
    case 'login':
      return (await import('./commands/login.ts')).login(rest);
    case 'serve':
      return (await import('./commands/serve.ts')).serve(rest);
    case 'mcp':
      return (await import('./commands/mcp.ts')).mcp(rest);
    case 'acp':
      return (await import('./commands/acp.ts')).acp(rest);
    case 'user':
      return (await import('./commands/user.ts')).user(rest);
    case 'key':
      return (await import('./commands/key.ts')).key(rest);
    case 'pair':
      return (await import('./commands/pair.ts')).pair(rest);
    case 'export':
      return (await import('./commands/export.ts')).exportSessions(rest);
    case 'import':
      return (await import('./commands/import.ts')).importSessions(rest);
    case 'backup':
      return (await import('./commands/backup.ts')).backup(rest);
    case '--help':
    case '-h':
    case 'help':
      console.log(USAGE);
      return 0;
    case '--version':
    case '-v':
      console.log(version);
      return 0;
    case undefined:
      printStderr(USAGE);
      return 2;
    default:
      throw new CommandError(await unknownCommand(command), 2);
  }
}

async function unknownCommand(command: string): Promise<string> {
  const { closest } = await import('@parlance/server/config');
  const commands = [...USAGE.matchAll(/^ {2}(\w+) /gm)].map(([, name = '']) => name);
  const meant = closest(command, commands);
  const hint = meant === null ? 'parlance --help lists them' : `did you mean ${meant}?`;
  return `unknown command "${command}" (${hint})`;
}

try {
  const code = await run(process.argv.slice(2));
  if (code !== null) process.exit(code);
} catch (error) {
  printStderr(`parlance: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(error instanceof CommandError ? error.exitCode : 1);
}
