/** Lines that did harm without approval once, or would: `root` is their working directory. */
import type { Line } from './lines.ts';

const line = (script: string, workdir?: string): Line => ({
  command: ['bash', '-lc', script],
  timeout: 1_000,
  ...(workdir === undefined ? {} : { workdir }),
});

export const PINNED: readonly { readonly line: Line; readonly root: number }[] = [
  { line: line('cd && cat .ssh/id_rsa'), root: 0 },
  { line: line('cd linked && cat key'), root: 0 },
  { line: line('cat l*/k*'), root: 0 },
  { line: line('cat linked/keys/../../secret'), root: 0 },
  { line: line('grep -R found .'), root: 0 },
  { line: line('rg -L found'), root: 0 },
  { line: line('rg found'), root: 0 },
  { line: line('rg --hidden found src/..'), root: 0 },
  { line: line('find -L .'), root: 0 },
  { line: line('ls -LR'), root: 0 },
  { line: line('wc --files0-from=list'), root: 0 },
  { line: line('git diff'), root: 0 },
  { line: line('git log -p'), root: 0 },
  { line: line('cd vendor/bare && git status'), root: 0 },
  { line: line('git status', 'vendor/lib'), root: 0 },
  { line: line('git log -1 --decorate-refs -- --output=made'), root: 0 },
  { line: line('git show -L -- --output=made'), root: 0 },
  { line: line('git branch --list --format -- --no-list -D main'), root: 0 },
  { line: line('git branch --format --list made'), root: 0 },
  { line: line('git diff -- -x/../../secret a.txt'), root: 0 },
  { line: line('sort -o made a.txt'), root: 0 },
  { line: line('sort --compress-program=../canary.sh a.txt'), root: 0 },
  { line: line('uniq a.txt made'), root: 0 },
  { line: line('diff -r linked plain'), root: 0 },
  { line: line('du --files0-from=list'), root: 0 },
  { line: line("test -v 'a[$(../canary.sh)]'"), root: 0 },
  { line: line('git blame --contents ../secret a.txt'), root: 0 },
  { line: line('git grep -O../canary.sh one'), root: 0 },
  { line: line('ls 2>/dev/null >made'), root: 0 },
  { line: line('ls 2>/dev/null\ncat linked/key'), root: 0 },
  { line: line('git log --all -p'), root: 1 },
  { line: line('git log --all -p'), root: 2 },
];
