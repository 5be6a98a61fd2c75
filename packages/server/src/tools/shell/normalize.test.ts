import { describe, expect, test } from 'bun:test';
import { decisionOf, type Rule } from '../../core/session/rules.ts';
import { commandSubjects, normalForm } from './normalize.ts';

function decide(rules: readonly Rule[], command: readonly string[]): Rule['decision'] | 'none' {
  const subjects = { literal: commandSubjects(command), ...normalForm(command) };
  return decisionOf(rules, ['shell'], subjects) ?? 'none';
}

const rule = (decision: Rule['decision'], pattern: string): Rule => ({ tool: 'shell', pattern, decision });
const script = (text: string): string[] => ['bash', '-lc', text];

describe('git push* denies', () => {
  const denied: (string | string[])[] = [
    ['git', 'push'],
    ['git', '-C', '.', 'push', 'origin'],
    ['git', '-c', 'a.b=c', '--git-dir=x', '--no-pager', 'push'],
    ['git', '--git-dir', 'x', 'push'],
    ['/usr/bin/git', 'push'],
    ['./git', 'push'],
    ['/usr/lib/git-core/git-push', 'origin'],
    ['env', 'git', 'push'],
    ['env', '-i', '-u', 'HOME', 'A=1', 'git', 'push'],
    ['env', '-', 'git', 'push'],
    ['env', '-S', 'git push'],
    ['env', '--split-string=git push', 'origin'],
    ['nice', '-n', '5', 'git', 'push'],
    ['nice', '-10', 'git', 'push'],
    ['timeout', '-s', 'KILL', '--kill-after=1', '5', 'git', 'push'],
    ['command', '-p', 'git', 'push'],
    ['nohup', 'git', 'push'],
    ['time', '-p', 'git', 'push'],
    ['stdbuf', '-oL', 'git', 'push'],
    ['sudo', '-Eu', 'root', 'A=1', 'git', 'push'],
    ['doas', '-u', 'root', 'git', 'push'],
    ['setsid', '-w', 'git', 'push'],
    ['flock', 'lock', 'git', 'push'],
    ['xargs', '-n', '1', 'git', 'push'],
    ['find', '.', '-name', 'x', '-exec', 'git', 'push', ';'],
    ['sudo', 'env', 'nice', 'timeout', '1', 'git', '-C', 'x', 'push'],
    ['bash', '-c', 'git push'],
    ['bash', '-euo', 'pipefail', '-c', 'git push'],
    ['/bin/sh', '-xc', 'git push', 'name', 'argument'],
    'git push',
    'A=1 git push',
    'cd sub; git push',
    'true && git push || true',
    'git status | git push',
    'git push > log 2>&1',
    'git &>/dev/null push',
    'true &> log x &> log git push',
    'git push &',
    '(git push)',
    '{ git push; }',
    'if true; then git push; fi',
    'for x in a b; do git push; done',
    'while ! git push; do true; done',
    'case a in a) git push;; esac',
    'f() { git push; }; f',
    'echo "$(git push)"',
    'echo `git push`',
    'diff <(git push) x',
    'true\ngit push',
    '# a comment\ngit push',
    'git \\\npush',
    'g\\it "pu"sh',
    "'git' 'push'",
    'eval git push',
    'eval "git push"',
    'exec -a name git push',
    'cat <<EOF\ntext\nEOF\ngit push',
    'git push $REMOTE',
    `bash -c "sh -c 'git push'"`,
    'bash -c "git push $REMOTE"',
  ];
  test.each(denied.map((one) => [typeof one === 'string' ? script(one) : one]))('%j', (command) => {
    expect(decide([rule('deny', 'git push*')], command)).toBe('deny');
  });
});

describe('with git push* denied, unparseable commands need approval', () => {
  const unclear: (string | string[])[] = [
    'git $VERB',
    '$GIT push',
    "$'git' push",
    '{git,push}',
    '/usr/bin/gi? push',
    'git pu*',
    'git <(true) push',
    'eval "$LINE"',
    'echo git push | sh',
    'bash <<EOF\ngit push\nEOF',
    'source file',
    'alias p="git push"; p',
    'git -c alias.p=push p',
    'bash -c "$SCRIPT"',
    "echo 'not closed",
    ['bash', 'script.sh'],
    ['bash'],
    ['env', '--unheard-of', 'x', 'true'],
    ['git', 'p'],
    ['ssh', 'host', 'true'],
    ['xargs', 'git'],
  ];
  test.each(unclear.map((one) => [typeof one === 'string' ? script(one) : one]))('%j', (command) => {
    expect(decide([rule('deny', 'git push*')], command)).toBe('ask');
    expect(decide([rule('ask', 'git push*')], command)).toBe('ask');
    expect(decide([rule('allow', '*')], command)).not.toBe('deny');
  });
});

describe('with git push* denied, a push hidden from a simple parser is denied or needs approval', () => {
  const hidden: (string | string[])[] = [
    'echo $;git push',
    'echo $\ngit push',
    'echo "a$"; git push; echo "b$"',
    'echo $"a"; git push; echo $"b"',
    `echo "$'"; git push; echo "'"`,
    'echo $((git push); (true))',
    'echo $(case x in x) git push;; esac)',
    'cat <<-E\n\tE\ngit push\nE',
    "cat <<E\nEx '\nE\ngit push\n#'",
    "cat <<E\na\\\nE\n'\nE\ngit push\n#'",
    '(( 1<<E ))\ngit push\nE',
    'a[1<<E]=1\ngit push\nE',
    '[[ a =~ (#) ]]; git push',
    'echo a\r#; git push',
    'echo "`echo \\"; git push; echo \\"`"',
    `x='$(git push)'; echo \${x@P}`,
    'function f { git push; }; f',
    'function f\n{ git push; }; f',
    'for x do git push; done',
    'coproc X { git push; }',
    'time { git push; }',
    'time ! git push',
    'time -p ! git push',
    ['bash', '-c', '-e', 'git push'],
    ['bash', '-c', '--', 'git push'],
    ['bash', '-c', '-', 'git push'],
    ['bash', '-cox', 'posix', 'git push'],
    ['bash', '-ceo', 'pipefail', 'git push'],
    'eval -- git push',
    ['env', '-vS', 'git push'],
    ['env', '-iS', 'git push'],
    ['env', '-S', 'git\\_push'],
    ['env', '-S', 'sh', '-c', 'git push'],
    ['flock', 'f', '-c', 'git push'],
    "echo 'git push' | xargs -I X sh -c X",
    'echo git | xargs -I X X push',
    'echo git | xargs -IX X push',
    ['find', '/usr/bin/git', '-exec', '{}', 'push', ';'],
    ['find', '.', '-exec', 'env', '-u', '+', 'git', 'push', ';'],
    "mapfile -c1 -C 'git push #' <<< x",
    'compgen -C "git push" x',
    'hash -p /usr/bin/git foo; foo push',
    ['setarch', 'x86_64', 'git', 'push'],
    ['linux64', 'git', 'push'],
    ['/lib64/ld-linux-x86-64.so.2', '/usr/bin/git', 'push'],
    ['git', 'rebase', '--exec', 'git push', 'HEAD~1'],
    ['git', 'rebase', '--exe=git push', 'HEAD~1'],
    ['git', 'rebase', '-x', 'git push', 'HEAD~1'],
    ['git', 'bisect', 'run', 'git', 'push'],
    ['git', '-c', 'core.fsmonitor=git push #', 'status'],
    ['git', '--config-env=core.fsmonitor=X', 'status'],
    ['git', 'config', 'core.fsmonitor', 'git push #'],
    ['git', 'submodule', 'foreach', 'git', 'push'],
    ['git', 'filter-branch', '--tree-filter', 'git push'],
    ['git', 'difftool', '-x', 'git push'],
    ['git', 'mergetool', '--tool=x'],
    ['git', 'send-email', '--sendmail-cmd=git push'],
  ];
  test.each(hidden.map((one) => [typeof one === 'string' ? script(one) : one]))('%j', (command) => {
    expect(['deny', 'ask']).toContain(decide([rule('deny', 'git push*')], command));
  });
});

describe('with git push* denied, other commands are unaffected', () => {
  const harmless: (string | string[])[] = [
    ['git', 'status'],
    ['git', '-C', 'sub', 'log'],
    ['git', 'commit', '-m', 'git push'],
    ['echo', 'git push'],
    ['env', 'A=1', 'npm', 'test'],
    ['timeout', '60', 'npm', 'test'],
    ['command', '-v', 'git'],
    'echo git push',
    'npm test > log 2>&1',
    'for f in *.ts; do wc -l "$f"; done',
    'x=$((1 + 2)); echo $x',
    'cat <<EOF > notes\ngit push\nEOF',
    'echo "$HOME" | tr a b',
    'git status && git diff "$FILE"',
    'rm -rf "$(mktemp -d)"',
    '[[ -f x ]] && cat x',
    '[[ $x =~ ^a.*b$ ]] && cat x',
    'echo "$(cat <<EOF\ngit push\nEOF\n)"',
    `cat <<-EOF\n\tgit push \${HOME}\n\tEOF\necho done`,
    `echo \${x:-default} "\${x##*/}" $?`,
    'echo "cost: 5$"; echo done',
    'x=$(( (1 + 2) * 3 )); echo $x',
    'i=0; while [ $i -lt 3 ]; do i=$((i+1)); done',
    'if [ -f x ]; then cat x; fi',
    'find . -name x -exec wc -l {} +',
    'ls | xargs -I{} cp {} backup',
    'git rebase main && git config --get user.name',
  ];
  test.each(harmless.map((one) => [typeof one === 'string' ? script(one) : one]))('%j', (command) => {
    expect(decide([rule('deny', 'git push*')], command)).toBe('none');
  });
});

test.each([
  ['npm publish*', ['npm', 'pub']],
  ['npm publish*', ['npm', '--registry', 'x', 'publish']],
  ['npm install*', ['npm', 'i', 'left-pad']],
  ['kubectl delete*', ['kubectl', '--context', 'prod', '-n', 'x', 'delete', 'pod']],
  ['docker push*', ['docker', '--debug', 'push', 'x']],
  ['kubectl delete*', script('kubectl -n x &>/dev/null delete pod')],
])('options before a subcommand and its abbreviations do not get around %s: %j', (pattern, command) => {
  expect(decide([rule('deny', pattern)], command)).toBe('deny');
});

test('rules that allow match only the literal command', () => {
  const rules = [rule('allow', 'git push*')];
  expect(decide(rules, ['git', 'push', 'origin'])).toBe('allow');
  expect(decide(rules, script('git push && git push --tags'))).toBe('allow');
  expect(decide(rules, script('git push &>/dev/null'))).toBe('allow');
  for (const command of [
    ['/tmp/evil/git', 'push'],
    ['git', '-c', 'core.sshCommand=x', 'push'],
    ['git', '-C', 'elsewhere', 'push'],
    ['env', 'git', 'push'],
    script('A=1 git push'),
    script('git push $(x)'),
    script('git push; x'),
    ['sh', '-c', 'git push &>/dev/null x'],
    script('g*t push'),
  ])
    expect([command, decide(rules, command)]).toEqual([command, 'none']);
});

test.each([
  ['many wrappers', Array.from({ length: 20_000 }, () => 'env')],
  ['many options', ['tool', ...Array.from({ length: 20_000 }, (_, at) => (at % 2 ? 'x' : '-a'))]],
  ['many actions', ['find', ...Array.from({ length: 20_000 }, () => '-exec')]],
  ['open substitutions', script('$('.repeat(30_000))],
  ['open expansions', script('${'.repeat(30_000))],
  ['open quotes', script(`"$(`.repeat(20_000))],
  ['open documents', script('<<a '.repeat(15_000))],
  ['a long script', script(`true;`.repeat(100_000))],
])('%s are read in bounded time and count as unknown', (_, command) => {
  expect(normalForm(command).partial.length).toBeGreaterThan(0);
});
