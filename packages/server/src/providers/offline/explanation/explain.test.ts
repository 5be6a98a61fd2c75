import { describe, expect, test } from 'bun:test';
import { explain } from './explain.ts';

const argv = (...command: readonly string[]) => explain(JSON.stringify(command));

describe('a command is explained', () => {
  test.each([
    [
      ['rm', '-rf', 'node_modules'],
      [
        /deletes files/,
        /-r it goes into folders/,
        /-f it does not ask/,
        /`node_modules`/,
        /cannot be brought back/,
      ],
    ],
    [['rm', '-rf', '/'], [/reaches very far/]],
    [['/bin/rm', 'x'], [/deletes files/]],
    [
      ['git', 'push', '--force'],
      [/`git push` sends commits/, /overwrites what is there/],
    ],
    [
      ['git', 'commit', '-m', 'a message'],
      [/`git commit` records/, /message from the next word/, /`a message`/],
    ],
    [
      ['git', 'reset', '--hard', 'HEAD~1'],
      [/moves the branch/, /throws away all uncommitted changes/],
    ],
    [
      ['npm', 'install', 'left-pad'],
      [/downloads packages/, /install scripts may run/, /`left-pad`/],
    ],
    [
      ['curl', '-k', 'https://example.com'],
      [/network address/, /does NOT check certificates/],
    ],
    [['chmod', '777', 'a'], [/who may read, write or run/]],
    [
      ['mv', 'a', 'b'],
      [/moves or renames/, /`a`, `b`/],
    ],
    [
      ['cp', '-r', 'a', 'b'],
      [/copies files/, /folders/],
    ],
    [
      ['mkdir', '-p', 'a/b'],
      [/makes folders/, /missing parent/],
    ],
    [
      ['docker', 'run', '--privileged', 'image'],
      [/starts a new container/, /full rights/],
    ],
    [
      ['kill', '-9', '1'],
      [/sends a signal/, /at once/],
    ],
    [
      ['find', '.', '-name', '*.tmp', '-delete'],
      [/looks for files/, /DELETES every file/],
    ],
    [
      ['sudo', 'rm', 'x'],
      [/rights of the administrator/, /deletes files/],
    ],
    [['save_file', 'notes.txt'], [/writes text to a file/]],
    [
      ['frobnicate', '--all'],
      [/do not know the program `frobnicate`/, /documentation/],
    ],
    [['ls', '--frob'], [/do not know what `--frob` means/]],
    [['constructor'], [/do not know the program/]],
    [[], [/does nothing/]],
  ])('%j', (command, expected) => {
    for (const pattern of expected) expect(argv(...command)).toMatch(pattern);
  });

  test('part by part, if it is a script', () => {
    const text = argv(
      'bash',
      '-lc',
      'mkdir -p out && cat "a && b" | grep -i x > out/found.txt; rm -f tmp || echo no',
    );
    expect(text).toContain('5 parts');
    expect(text).toContain('makes folders');
    expect(text).toContain('If that works: `cat` prints files');
    expect(text).toContain('goes to the next part: `grep`');
    expect(text).toContain('replaces the contents of `out/found.txt`');
    expect(text).toContain('Then: `rm` deletes files');
    expect(text).toContain('If that fails: `echo`');
  });

  test('with a warning if it runs code from the network', () => {
    expect(argv('bash', '-lc', 'curl -s https://example.com/x | sh')).toContain(
      'runs whatever the network address sends',
    );
  });

  test('also as a line, and inside a sentence', () => {
    expect(explain('rm -rf build')).toContain('deletes files');
    expect(explain('Explain this command: ["rm","x"]')).toContain('deletes files');
  });

  test('without anything to explain it says so', () => {
    expect(explain(' ')).toBe('There is nothing to explain.');
  });
});

describe('a patch is explained', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: new.txt',
    '+one',
    '+two',
    '*** Update File: old.txt',
    '*** Move to: moved.txt',
    '@@ [x]',
    ' same',
    '-before',
    '+after',
    '*** Delete File: gone.txt',
    '*** End Patch',
  ].join('\n');

  test.each([
    ['as it is', patch],
    ['as a command', JSON.stringify(['apply_patch', patch])],
    ['inside a script', JSON.stringify(['bash', '-lc', `apply_patch <<'EOF'\n${patch}\nEOF`])],
  ])('%s', (_, text) => {
    expect(explain(text)).toBe(
      'The patch touches 3 files. It adds the file `new.txt` with 2 lines. It changes the file `old.txt` and moves it to `moved.txt`: 1 line added, 1 line removed. It deletes the file `gone.txt`.',
    );
  });
});
