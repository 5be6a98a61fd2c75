/** A program: swaps two directory entries repeatedly until it is killed. Prints "swapping" when it has started. Linux. */
import { dlopen, FFIType } from 'bun:ffi';

const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;

const { symbols } = dlopen('libc.so.6', {
  renameat2: {
    args: [FFIType.i32, FFIType.cstring, FFIType.i32, FFIType.cstring, FFIType.u32],
    returns: FFIType.i32,
  },
});

const [one, other] = process.argv.slice(2).map((path) => Buffer.from(`${path}\0`));
if (!one || !other) throw new Error('two paths are needed');
const swap = () => symbols.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
if (swap() !== 0) throw new Error('the entries cannot be swapped');
console.log('swapping');
for (;;) swap();
