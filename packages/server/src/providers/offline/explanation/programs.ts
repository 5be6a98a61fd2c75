/** Descriptions of well-known programs, as the rest of "`name` …". Flags complete "with …, it …". */
import type { Program } from './program.ts';
import { COMMANDERS } from './subcommands.ts';

const RECURSIVE = 'goes into folders as well';
const FORCE = 'does not ask and does not stop at what is missing';

const PLAIN: { readonly [name: string]: Program } = {
  rm: {
    does: 'deletes files',
    flags: { r: RECURSIVE, R: RECURSIVE, f: FORCE, i: 'asks before each file', v: 'names what it deletes' },
    targets: 'It deletes',
    caution: 'What is deleted cannot be brought back.',
  },
  rmdir: { does: 'deletes empty folders', targets: 'It deletes' },
  mv: {
    does: 'moves or renames files',
    flags: { f: 'overwrites without asking', n: 'never overwrites', i: 'asks before it overwrites' },
    targets: 'It works on',
    caution: 'A file that is already there under the new name is replaced.',
  },
  cp: {
    does: 'copies files',
    flags: {
      r: RECURSIVE,
      R: RECURSIVE,
      a: 'keeps times, owners and links',
      f: 'overwrites without asking',
      n: 'never overwrites',
    },
    targets: 'It works on',
  },
  mkdir: { does: 'makes folders', flags: { p: 'makes missing parent folders too' }, targets: 'It makes' },
  touch: { does: 'makes empty files, or renews the time of those that exist', targets: 'It works on' },
  ln: {
    does: 'makes a link to a file',
    flags: { s: 'makes a symbolic link', f: 'replaces what is there' },
    targets: 'It links',
  },
  ls: {
    does: 'lists files; it changes nothing',
    flags: {
      l: 'shows sizes, owners and times',
      a: 'shows hidden files too',
      h: 'writes sizes for people',
      R: RECURSIVE,
      t: 'puts the newest first',
    },
    targets: 'It looks at',
  },
  pwd: { does: 'prints the current folder; it changes nothing' },
  cd: { does: 'changes the current folder', targets: 'It goes to' },
  cat: { does: 'prints files; it changes nothing', flags: { n: 'numbers the lines' }, targets: 'It prints' },
  head: { does: 'prints the first lines of files; it changes nothing', targets: 'It is given' },
  tail: {
    does: 'prints the last lines of files; it changes nothing',
    flags: { f: 'keeps waiting for new lines' },
    targets: 'It is given',
  },
  less: { does: 'shows a file page by page; it changes nothing', targets: 'It shows' },
  echo: { does: 'prints its words; it changes nothing', targets: 'It prints' },
  printf: { does: 'prints formatted text; it changes nothing', targets: 'It is given' },
  grep: {
    does: 'searches text for a pattern; it changes nothing',
    flags: {
      r: RECURSIVE,
      R: RECURSIVE,
      i: 'ignores upper and lower case',
      n: 'shows line numbers',
      v: 'shows the lines that do not match',
      l: 'shows only file names',
      E: 'takes extended patterns',
    },
    targets: 'It is given',
  },
  rg: {
    does: 'searches files for a pattern; it changes nothing',
    flags: { i: 'ignores upper and lower case', n: 'shows line numbers', l: 'shows only file names' },
    targets: 'It is given',
  },
  find: {
    does: 'looks for files',
    flags: {
      '-name': 'looks at their names',
      '-type': 'looks at their kind',
      '-delete': 'DELETES every file it finds',
      '-exec': 'runs a command for every file it finds',
    },
    targets: 'It is given',
  },
  sed: {
    does: 'edits text line by line',
    flags: {
      i: 'changes the files themselves',
      n: 'prints only what it is told to',
      E: 'takes extended patterns',
    },
    targets: 'It is given',
  },
  awk: { does: 'runs a small program over every line of text', targets: 'It is given' },
  sort: {
    does: 'sorts lines',
    flags: { n: 'sorts by number', r: 'turns the order around', u: 'drops repeated lines' },
    targets: 'It sorts',
  },
  uniq: { does: 'drops repeated lines', flags: { c: 'counts them' }, targets: 'It reads' },
  wc: {
    does: 'counts lines, words and bytes; it changes nothing',
    flags: { l: 'counts only lines', w: 'counts only words' },
    targets: 'It reads',
  },
  xargs: { does: 'runs a command with the words that it reads as arguments', targets: 'The command is' },
  tee: {
    does: 'writes its input to files and passes it on',
    flags: { a: 'adds to the files' },
    targets: 'It writes',
  },
  diff: {
    does: 'compares files; it changes nothing',
    flags: { u: 'shows the lines around each change', r: RECURSIVE },
    targets: 'It compares',
  },
  which: { does: 'says where a program is; it changes nothing', targets: 'It looks for' },
  chmod: {
    does: 'changes who may read, write or run files',
    flags: { R: RECURSIVE },
    targets: 'It is given',
    caution: 'Rights that are too wide let others change the files.',
  },
  chown: {
    does: 'changes the owner of files',
    flags: { R: RECURSIVE },
    targets: 'It is given',
    caution: 'The old owner may lose access.',
  },
  kill: {
    does: 'sends a signal to processes, usually to end them',
    flags: {
      '9': 'ends them at once, without letting them save anything',
      KILL: 'ends them at once, without letting them save anything',
    },
    targets: 'The processes are',
    caution: 'Work that was not saved may be lost.',
  },
  pkill: {
    does: 'ends all processes whose name fits',
    flags: { f: 'compares the whole command line', '9': 'ends them at once' },
    targets: 'It looks for',
    caution: 'It may end more than was meant.',
  },
  killall: {
    does: 'ends all processes of a name',
    flags: { '9': 'ends them at once' },
    targets: 'It looks for',
    caution: 'It may end more than was meant.',
  },
  ps: { does: 'lists running processes; it changes nothing' },
  df: { does: 'shows free disk space; it changes nothing', flags: { h: 'writes sizes for people' } },
  du: {
    does: 'shows how much space files take; it changes nothing',
    flags: { h: 'writes sizes for people', s: 'shows only the sums' },
    targets: 'It measures',
  },
  dd: {
    does: 'copies raw data block by block',
    targets: 'It is given',
    caution: 'Written to a disk, it destroys what is on it.',
  },
  tar: {
    does: 'packs or unpacks archives',
    flags: {
      c: 'packs',
      x: 'unpacks',
      t: 'only lists',
      z: 'uses gzip',
      f: 'takes the archive from the next word',
      v: 'names the files',
    },
    targets: 'It is given',
  },
  unzip: { does: 'unpacks a zip archive', flags: { o: 'overwrites without asking' }, targets: 'It unpacks' },
  zip: { does: 'packs files into a zip archive', flags: { r: RECURSIVE }, targets: 'It is given' },
  curl: {
    does: 'fetches from or sends to a network address',
    flags: {
      o: 'writes the answer to a file',
      O: 'writes the answer to a file of the same name',
      L: 'follows redirects',
      X: 'sets the method',
      d: 'sends data',
      s: 'is silent',
      f: 'fails on server errors',
      k: 'does NOT check certificates',
      '--insecure': 'does NOT check certificates',
      H: 'sends a header',
    },
    targets: 'It is given',
  },
  wget: {
    does: 'downloads from a network address to a file',
    flags: { q: 'is silent', r: 'follows the links on the pages too', O: 'names the file' },
    targets: 'It fetches',
  },
  ssh: { does: 'logs in to another machine, or runs a command there', targets: 'It is given' },
  scp: { does: 'copies files to or from another machine', flags: { r: RECURSIVE }, targets: 'It copies' },
  rsync: {
    does: 'makes one folder like another',
    flags: { a: 'keeps times, owners and links', '--delete': 'DELETES what the source does not have' },
    targets: 'It works on',
  },
  node: {
    does: 'runs a JavaScript program',
    flags: { e: 'takes the program from the next word' },
    targets: 'It runs',
    caution: 'The program can do whatever the user may do.',
  },
  python: {
    does: 'runs a Python program',
    flags: { c: 'takes the program from the next word', m: 'runs a module' },
    targets: 'It runs',
    caution: 'The program can do whatever the user may do.',
  },
  save_file: {
    does: 'writes text to a file in the working folder',
    targets: 'It is given',
    caution: 'What the file held before is replaced.',
  },
  web_search: { does: 'sends a question to a search engine', targets: 'It asks for' },
  make: {
    does: 'runs the steps that the Makefile gives for a target',
    targets: 'The targets are',
    caution: 'What it does depends on the Makefile.',
  },
};

const ALIASES: { readonly [name: string]: string } = {
  python3: 'python',
  pip3: 'pip',
  'apt-get': 'apt',
  gawk: 'awk',
  egrep: 'grep',
  more: 'less',
};

/** By the name of the program or the path to it. */
export function programOf(written: string): Program | null {
  const name = written.slice(written.lastIndexOf('/') + 1);
  const real = ALIASES[name] ?? name;
  if (Object.hasOwn(COMMANDERS, real)) return COMMANDERS[real] ?? null;
  return Object.hasOwn(PLAIN, real) ? (PLAIN[real] ?? null) : null;
}

export const isKnownProgram = (written: string): boolean =>
  programOf(written) !== null || ['bash', 'sh', 'sudo', 'env'].includes(written);
