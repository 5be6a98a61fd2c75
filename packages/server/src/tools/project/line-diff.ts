/** The difference of two texts by lines. */

/** Above this many comparisons, the changed region is shown as replaced. */
const MAX_COMPARISONS = 4_000_000;
const CONTEXT_LINES = 3;

/** Lines that begin with a space, `-` or `+`. Long unchanged parts are left out, and counted. */
export function lineDiff(before: string, after: string): string {
  const [old, next] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < next.length - start &&
    old[old.length - 1 - end] === next[next.length - 1 - end]
  )
    end++;
  const middle = changes(old.slice(start, old.length - end), next.slice(start, next.length - end));
  const kept = (lines: readonly string[]) => lines.map((line) => ` ${line}`);
  return folded([...kept(old.slice(0, start)), ...middle, ...kept(end === 0 ? [] : old.slice(-end))]).join(
    '\n',
  );
}

function changes(old: readonly string[], next: readonly string[]): string[] {
  const replaced = () => [...old.map((line) => `-${line}`), ...next.map((line) => `+${line}`)];
  if (old.length * next.length > MAX_COMPARISONS) return replaced();
  // Length of the longest common subsequence from each pair of positions on.
  const width = next.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = next.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push(` ${old[i++]}`);
      j++;
    } else if (i < old.length && (j === next.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push(`-${old[i++]}`);
    else lines.push(`+${next[j++]}`);
  }
  return lines;
}

function folded(lines: readonly string[]): string[] {
  const isNear = lines.map(() => false);
  for (const [index, line] of lines.entries())
    if (!line.startsWith(' '))
      isNear.fill(true, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
  const shown: string[] = [];
  let left = 0;
  for (const [index, line] of lines.entries()) {
    if (!isNear[index]) {
      left++;
      continue;
    }
    if (left > 0) shown.push(`@@ ${left} unchanged lines @@`);
    left = 0;
    shown.push(line);
  }
  if (left > 0) shown.push(`@@ ${left} unchanged lines @@`);
  return shown;
}
