import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { link, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { autoApprovedOutput, bash, repositoryIn } from '../../testing/tools/shell.ts';
import { contextIn, faultOf, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { findSandbox } from './sandbox.ts';
import { shell } from './tool.ts';

const found = await findSandbox();
const SECRET = 'canary-5d1c';
const HOME = process.env.HOME;

/**
 * A root with links that lead outside in `linked`, and none in `plain`. HOME is outside and contains the secret, like the
 * target of the links.
 */
async function rootWithLinks(): Promise<ToolFixture> {
  const place = await toolFixture();
  await Bun.write(join(place.outside, 'home/.ssh/id_rsa'), SECRET);
  await Bun.write(join(place.outside, 'secret'), SECRET);
  for (const path of ['a.txt', 'plain/a.txt', 'plain/deep/b.txt', 'linked/c.txt', 'linked/sub/d.txt'])
    await place.write(path, `found in ${path}\n`);
  await place.write('list', `${place.outside}/secret\0`);
  await place.write('-delete', '');
  await mkdir(join(place.root, 'options'));
  await place.write('options/-follow', '');
  await symlink('../..', join(place.root, 'options/out'));
  await symlink(join(place.outside, 'home/.ssh'), join(place.root, 'linked/keys'));
  await symlink('../../secret', join(place.root, 'linked/key'));
  await symlink(join(place.outside, 'home'), join(place.root, 'linked/sub/home'));
  await symlink('deep', join(place.root, 'plain/inside'));
  await symlink('nowhere', join(place.root, 'plain/broken'));
  process.env.HOME = join(place.outside, 'home');
  return place;
}

/** Each with a similar command that must run without approval, and a part of its output. */
const ATTACKS: [attack: string, harmless: string, shown: string][] = [
  ['cd && cat .ssh/id_rsa', 'cd plain && cat a.txt', 'found in plain/a.txt'],
  ['cd -- && cat .ssh/id_rsa', 'cd -- plain && cat a.txt', 'found in plain/a.txt'],
  ['cd; ls', 'cd .; ls', 'a.txt'],
  ['cd -', 'cd plain; pwd', 'root/plain'],
  ['cd ~ && ls', 'cd plain/deep/.. && ls', 'deep'],
  ['cd linked && cat key', 'cd plain && cat inside/b.txt', 'found in plain/deep/b.txt'],
  ['cd linked/keys && cat id_rsa', 'cd plain/inside && cat b.txt', 'found in plain/deep/b.txt'],
  ['cd linked; cat keys/id_rsa', 'cd linked; cat c.txt', 'found in linked/c.txt'],
  ['cd plain && cd .. && cd .. && cat secret', 'cd plain && cd .. && cat a.txt', 'found in a.txt'],
  ['cd missing; cat ../secret', 'cd missing; cat a.txt', 'found in a.txt'],
  ['cd missing || cat linked/key', 'cd missing || cat a.txt', 'found in a.txt'],
  ['cd linked | true; cat linked/key', 'cd plain | true; cat a.txt', 'found in a.txt'],
  ['true && cd linked; cat key', 'true && cd plain && cat deep/b.txt', 'found in plain/deep/b.txt'],
  ['cat linked/keys/../../secret', 'cat plain/inside/../a.txt', 'found in plain/a.txt'],
  ['cat linked/key*', 'cat linked/c*', 'found in linked/c.txt'],
  ['cat */k*', 'cat */a*', 'found in plain/a.txt'],
  ['cat l*/k[e]ys/id_?sa', 'cat p*/d[e]ep/?.txt', 'found in plain/deep/b.txt'],
  ['echo linked/keys/*', 'echo linked/*', 'linked/c.txt'],
  ['echo ../*', 'echo plain/../*', 'a.txt'],
  ['head -n1 linked/key', 'head -n1 a.txt', 'found in a.txt'],
  ['tail -F a.txt', 'tail -n 1 a.txt', 'found in a.txt'],
  ['sed -n 1p linked/key', 'sed -n 1p a.txt', 'found in a.txt'],
  ['nl linked/key', 'nl a.txt', 'found in a.txt'],
  ['wc --files0-from=list', 'wc -c a.txt', '15 a.txt'],
  ['wc --files0=list', 'wc --lines a.txt', '1 a.txt'],
  ['grep -R canary', 'grep -R found plain', 'plain/deep/b.txt'],
  ['grep -nR canary linked', 'grep -rn found linked', 'linked/c.txt:1:'],
  ['grep --dereference-recursive canary .', 'grep --recursive found .', './a.txt'],
  ['grep --deref canary .', 'grep --dereference-recursive found plain', 'plain/a.txt'],
  ['grep -flinked/key a.txt', 'grep -fa.txt a.txt', 'found in a.txt'],
  ['grep -f linked/key a.txt', 'grep -e found a.txt', 'found in a.txt'],
  ['grep --file=linked/key a.txt', 'grep --file=a.txt a.txt', 'found in a.txt'],
  ['grep --exclude-from=linked/key -r found .', 'grep --exclude=c.txt -r found .', './a.txt'],
  ['grep found a.txt linked/key', 'grep /elsewhere a.txt; grep found a.txt', 'found in a.txt'],
  ['rg -L canary', 'rg -L found plain', 'plain/deep/b.txt'],
  ['rg --follow canary linked', 'rg found linked', 'linked/c.txt'],
  ['rg -uuL canary .', 'rg -uu found .', 'a.txt'],
  ['rg -f linked/key .', 'rg -f a.txt .', 'found in a.txt'],
  ['rg --ignore-file linked/key found .', 'rg --ignore-file list found a.txt', 'found in a.txt'],
  ['rg --files --follow', 'rg --files --sort path', 'a.txt'],
  ['find -L . -name id_rsa', 'find -L plain -name b.txt', 'plain/deep/b.txt'],
  ['find . -follow -name id_rsa', 'find . -name c.txt', './linked/c.txt'],
  ['find -H linked/keys', 'find -H plain/inside', 'plain/inside/b.txt'],
  ['find linked/keys/', 'find plain/inside/', 'plain/inside/b.txt'],
  ['find -files0-from list', 'find . -newer a.txt -name list', './list'],
  ['find . -newer linked/key', 'find . -maxdepth 1 -type f', './a.txt'],
  ['find *', 'find plain/d*', 'plain/deep/b.txt'],
  ['cd options && find . -f*', 'cd plain && find d*', 'deep/b.txt'],
  ['ls -LR', 'ls -LR plain', 'b.txt'],
  ['ls -L linked', 'ls -L plain', 'inside'],
  ['ls --dereference linked', 'ls --color=never linked', 'keys'],
  ['ls --deref linked', 'ls -la linked', 'keys'],
  ['ls linked/keys', 'ls plain/inside', 'b.txt'],
  ['cat plain/broken', 'ls plain/deep', 'b.txt'],
  ['cat /proc/self/cwd/linked/key', 'pwd', 'root'],
  ['cat -- -delete linked/key', 'cat -- -delete a.txt', 'found in a.txt'],
  ['which /bin/../etc/passwd', 'which cat', 'cat'],
  ['cat linked/key 2>/dev/null', 'cat missing 2>/dev/null || echo none', 'none'],
  ['cd linked 2>/dev/null; cat key', 'cd plain 2>/dev/null && cat a.txt', 'found in plain/a.txt'],
  ['cd missing 2>/dev/null || cat linked/key', 'cd missing 2>/dev/null || echo none', 'none'],
  ['cat missing 2>&1 | cat - linked/key', 'cat missing 2>&1 | cat', 'No such file'],
  ['cat <../secret', 'cat a.txt </dev/null', 'found in a.txt'],
  ['cd linked\ncat key', 'cd plain\ncat a.txt', 'found in plain/a.txt'],
  ['cd linked &&\ncat key', '\ncd plain &&\n\ncat a.txt;\n', 'found in plain/a.txt'],
  ['cat a.txt \\\n linked/key', 'cat a\\\n.txt', 'found in a.txt'],
  ['sort linked/key', 'sort -r a.txt', 'found in a.txt'],
  ['sort --files0-from=list', 'sort --key=1 a.txt', 'found in a.txt'],
  ['sort --random-source=linked/key a.txt', 'sort -R a.txt', 'found in a.txt'],
  ['uniq linked/key', 'uniq -c a.txt', '1 found in a.txt'],
  ['cut -c1-90 linked/key', 'cut -d/ -f2 plain/a.txt', 'a.txt'],
  ['diff linked/key a.txt', 'diff a.txt plain/a.txt', '> found in plain/a.txt'],
  ['diff linked plain', 'diff plain plain/deep', 'Only in plain'],
  ['diff -r linked plain', 'diff -r plain plain/deep', 'Only in plain'],
  ['diff -rN linked options', 'diff -N plain/a.txt missing', '< found in plain/a.txt'],
  ['diff a.txt linked/keys', 'diff plain a.txt', 'found in plain/a.txt'],
  ['cmp a.txt linked/key', 'cmp a.txt plain/a.txt', 'differ'],
  ['stat -c %s linked/key', 'stat -c %s a.txt', '15'],
  ['stat linked/keys', 'stat plain/inside', 'plain/inside'],
  ['du -a linked/keys/', 'du -a plain', 'plain/deep/b.txt'],
  ['du -aL linked', 'du -a linked', 'linked/c.txt'],
  ['du -aD linked/keys', 'du -sh linked', 'linked'],
  ['du --files0-from=list', 'du -d 0 .', '.'],
  ['test -f linked/key && echo yes', 'test -f a.txt && echo yes', 'yes'],
  ['[ -d linked/keys ] && echo yes', '[ -d plain/inside ] && echo yes', 'yes'],
  ['[ a.txt -ot linked/key ] || echo no', '[ a = a ] && echo yes', 'yes'],
  ['test -e ../secret || echo no', 'test -e missing || echo no', 'no'],
  ['realpath linked/keys', 'realpath plain/inside', 'plain/deep'],
  ['readlink -f linked/key', 'readlink plain/inside', 'deep'],
  ['sha256sum linked/key', 'sha256sum a.txt', 'a.txt'],
  ['sha256sum -c list', 'md5sum a.txt', 'a.txt'],
  ['tac linked/key', 'tac a.txt | rev | rev', 'found in a.txt'],
  ['paste a.txt linked/key', 'paste a.txt a.txt', 'found in a.txt\tfound in a.txt'],
  ['comm a.txt linked/key', 'comm a.txt a.txt', 'found in a.txt'],
  ['od -c linked/key', 'od -c a.txt | tr -d " "', 'foundina.txt'],
  ['command -v ../secret', 'command -v cat', 'cat'],
];

for (const sandbox of found ? [null, found] : [null]) {
  describe(`reading outside the working directory, ${sandbox ? 'with' : 'without'} a sandbox`, () => {
    let place: ToolFixture;
    beforeAll(async () => {
      place = await rootWithLinks();
    });
    afterAll(async () => {
      process.env.HOME = HOME;
      await place[Symbol.asyncDispose]();
    });
    const output = (command: string[], workdir?: string) =>
      autoApprovedOutput(place, { command, ...(workdir ? { workdir } : {}) }, { sandbox, hide: [] });

    test.each(ATTACKS)('needs approval for %s, and runs %s', async (attack, harmless, shown) => {
      for (const shell of sandbox ? ['bash'] : ['bash', 'sh']) {
        expect(await output([shell, '-c', attack])).toBeNull();
        expect(await output([shell, '-c', harmless])).toContain(shown);
      }
    });

    test('needs approval in a folder behind a link that leads outside, and runs in one inside', async () => {
      expect(await output(['cat', 'id_rsa'], 'linked/keys')).toBeNull();
      expect(await output(['cat', 'b.txt'], 'plain/inside')).toContain('found in plain/deep/b.txt');
    });

    test('arguments without a shell are names, not patterns', async () => {
      expect(await output(['cat', 'a*'])).toContain('No such file');
      expect(await output(['echo', '~', '*'])).toBe('~ *\n');
      expect(await output(['cat', 'linked/key'])).toBeNull();
    });

    test('quotes, spaces and shell keywords reach the program unchanged', async () => {
      expect(await output(bash(`echo 'a  b' "c'd" \\$HOME \\* '$(id)' -e`))).toBe(
        "a  b c'd $HOME * $(id) -e\n",
      );
      expect(await output(bash('echo one | cat; true && echo two || echo three'))).toBe('one\ntwo\n');
      expect(await output(bash('echo nothing-fits*'))).toBe('nothing-fits*\n');
    });

    test('a profile in HOME has no effect', async () => {
      await Bun.write(join(place.outside, 'home/.bash_profile'), 'cat() { echo replaced; }\n');
      expect(await output(bash('cat a.txt'))).toBe('found in a.txt\n');
    });

    test('a command that became unsafe after it was judged does not run', async () => {
      const tool = shell('shell', { sandbox, hide: [] });
      const input = { command: bash('cat swapped') };
      await place.write('swapped', 'fine');
      expect(await tool.approval(tool.input.parse(input), { root: place.root })).toBeNull();
      await rm(join(place.root, 'swapped'));
      await symlink('../secret', join(place.root, 'swapped'));
      const fault = await faultOf(use(tool, input, contextIn(place.root, { permission: 'safe' })));
      expect(fault.code).toBe('tool_failed');
      await rm(join(place.root, 'swapped'));
    });
  });
}

for (const sandbox of found ? [null, found] : [null]) {
  const where = sandbox ? 'in the sandbox' : 'without a sandbox';
  test(`a hard link to the config file needs approval, and so do searches that may find it, ${where}`, async () => {
    await using place = await toolFixture();
    await repositoryIn(place.root);
    await place.write('src/b.txt', 'b\n');
    const config = join(place.outside, 'parlance.json');
    await Bun.write(config, 'key\n');
    const run = (script: string) =>
      autoApprovedOutput(place, { command: bash(script) }, { sandbox, hide: [config] });
    const searches = ['grep -r key .', 'grep -rn key src', 'rg key', 'rg key src', 'git diff', 'git status'];
    for (const script of searches) expect([script, await run(script)]).not.toEqual([script, null]);
    await link(config, join(place.root, 'src/twin'));
    const reads = ['cat src/twin', 'cat src/*', 'head -1 src/twin', 'grep key src/twin', 'rg key src/twin'];
    for (const script of [...reads, 'sed -n 1p src/twin', ...searches])
      expect([script, await run(script)]).toEqual([script, null]);
    for (const script of ['sort src/twin', 'diff src/twin a.txt', 'diff -r src .', 'git grep key'])
      expect([script, await run(script)]).toEqual([script, null]);
    expect(await run('cat src/b.txt && grep b src/b.txt && ls src')).toBe('b\nb\nb.txt\ntwin\n');
  });
}
