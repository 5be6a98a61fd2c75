import { describe, expect, test } from 'bun:test';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolFixture } from '../../testing/tools/tool-context.ts';
import { grantFor } from './grant.ts';

/** A root with files, folders and links that lead out of it, and a folder beside it. */
async function place() {
  const shop = await toolFixture();
  const { root } = shop;
  for (const folder of ['src', 'out', 'hidden', '.git', 'bare/objects', 'evil', 'half', 'z'])
    await mkdir(join(root, folder), { recursive: true });
  for (const file of ['a.txt', 'src/a.txt', 'hidden/key', 'half/HEAD', 'z/HEAD', 'evil/config'])
    await writeFile(join(root, file), 'text');
  await symlink('/etc', join(root, 'etc'));
  await symlink('/etc/passwd', join(root, 'out/a.txt'));
  await symlink('src', join(root, 'link'));
  const secrets = [join(root, 'hidden')];
  const scope = { root, hide: secrets, secrets };
  const grant = (words: string | readonly string[], workdir = root) =>
    grantFor(typeof words === 'string' ? words.split(' ') : words, { scope, workdir });
  return { grant, root, [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose]() };
}

describe('an option that carries code, or an abbreviation of one, is not covered', () => {
  test.each([
    'git fetch --upload-pack=x origin',
    'git fetch --upload-p=x origin',
    'git fetch --upload-p x origin',
    'git push --receive-pack=x origin',
    'git push --receive=x origin',
    'git push --exe=x origin',
    'git pull --upload-p=x',
    'git merge -s x main',
    'git merge --strateg=x main',
    'git commit -S -m x',
    'git commit --gpg-s=x -m x',
    'git tag -s v1',
    'git init --templ=x',
    'git checkout --conf x',
    'git -c a=b commit -m x',
    'git commit -c HEAD',
    'npm test --script-shell=x',
    'npm test --script-she=x',
    'npm test --prefi x',
    'npm install --prefix=x',
    'npm install --registry=http://x/',
    'npm test --node-options=x',
    'npm run build --script-she x',
    'cargo --config x build',
    'cargo build --config x',
    'cargo build --conf x',
    'cargo +nightly build',
    'go test -exec x ./...',
    'go test -exec=x ./...',
    'go build -toolexec=x ./...',
    'go test -o ../x ./...',
    'make -f x all',
    'make CC=x all',
    'pip list --index-url=x',
  ])('%s', async (line) => {
    await using where = await place();
    expect(await where.grant(line)).toBeUndefined();
  });
});

describe('words outside of the grant are not covered', () => {
  test.each([
    ['git fetch ext::sh', undefined],
    ['git fetch https://example.com/x', undefined],
    ['git push ../elsewhere main', undefined],
    ['git push ./sub main', undefined],
    ['git push --force origin main', undefined],
    ['git push origin +main', undefined],
    ['git push origin :main', undefined],
    ['git push origin main', 'shell:git push origin'],
    ['git push other main', 'shell:git push other'],
    ['git push', 'shell:git push'],
    ['git stash drop', undefined],
    ['git stash pop', 'shell:git stash pop'],
    ['git checkout ../x', undefined],
    ['git add :/', undefined],
    ['git add etc/passwd', undefined],
    ['npm install', 'shell:npm install'],
    ['npm install left-pad', 'shell:npm install left-pad'],
    ['npm install -D left-pad @types/node@22', 'shell:npm install -D left-pad @types/node@22'],
    ['npm install ./evil', undefined],
    ['npm install user/repository', undefined],
    ['npm install git+https://example.com/x', undefined],
    ['npm audit fix', 'shell:npm audit fix'],
    ['npm run build', 'shell:npm run build'],
    ['npm run build -- --now', undefined],
    ['go test github.com/x/y', undefined],
    ['go test ./... -v', 'shell:go test'],
    ['go mod edit x', undefined],
    ['make all', 'shell:make all'],
    ['make test', 'shell:make test'],
    ['tool --any option', 'shell:tool --any option'],
  ])('%s: %p', async (line, expected) => {
    await using where = await place();
    expect(await where.grant(line)).toBe(expected);
  });
});

describe('plain programs are covered only inside the working directory', () => {
  test.each([
    'cp a.txt /tmp/x',
    'cp /etc/passwd .',
    'cp ../x .',
    'cp a.txt etc/x',
    'cp a.txt out',
    'cp a.txt out/a.txt',
    'cp -r src ../copy',
    'cp -t /tmp a.txt',
    'cp --target-directory=/tmp a.txt',
    'cp --target-d=/tmp a.txt',
    'cp a.txt .git/hooks/post-commit',
    'touch bare/HEAD',
    'cp z/HEAD bare',
    'cp evil/config half',
    'mv evil/config half',
    'git mv evil/config half',
    'mv z/HEAD bare',
    'mv src/a.txt out',
    'mv src/a.txt a.txt out',
    'cp hidden/key a.txt',
    'mv hidden seen',
    'mv . ../x',
    'mv a.txt ../a.txt',
    'mv etc/hosts .',
    'touch /tmp/x',
    'touch -r /etc/passwd a.txt',
    'touch etc/x',
    'mkdir ../x',
    'mkdir -p link/../../x',
    'rmdir ../x',
    'diff src etc',
    'cmp a.txt etc/passwd',
    'file -f list',
    'uniq a.txt b.txt',
    'tree -o out.txt',
    'tree -l',
    'du hidden',
    'stat hidden/key',
    'date 010100002030',
    'date -s now',
    'hostname other',
  ])('%s is not', async (line) => {
    await using where = await place();
    expect(await where.grant(line)).toBeUndefined();
  });

  test.each([
    ['cp a.txt b.txt', 'shell:cp'],
    ['cp -v a.txt src/a.txt link', 'shell:cp'],
    ['mv a.txt src/b.txt', 'shell:mv'],
    ['touch new.txt src/new.txt', 'shell:touch'],
    ['mkdir -p deep/er/still', 'shell:mkdir'],
    ['diff -u a.txt src/a.txt', 'shell:diff'],
    ['du -sh src', 'shell:du'],
    ['stat -c %s a.txt', 'shell:stat'],
    ['date +%s', 'shell:date'],
    ['git add src/a.txt', 'shell:git add'],
    ['git commit -am words', 'shell:git commit'],
    ['git checkout -b topic/one', 'shell:git checkout'],
    ['git switch main', 'shell:git switch'],
  ])('%s is: %s', async (line, expected) => {
    await using where = await place();
    expect(await where.grant(line)).toBe(expected);
  });
});

test('a grant is for the folder in which it was given', async () => {
  await using where = await place();
  expect(await where.grant('npm test')).toBe('shell:npm test');
  expect(await where.grant('npm test', join(where.root, 'src'))).toBe('shell:npm test in src');
  expect(await where.grant('touch ../a.txt', join(where.root, 'src'))).toBe('shell:touch in src');
  expect(await where.grant('npm test', '/')).toBeUndefined();
});
