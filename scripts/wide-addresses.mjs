/**
 * Makes AssemblyScript compile for a memory of more than 4 GiB. Its command line has no option for that, and its
 * compiler declares every memory with addresses of 32 bits, whatever the target is.
 */
import { Transform } from 'assemblyscript/transform';

/** 16 GiB in pages, the most that V8 gives one memory. */
const mostPages = 262144;
/** `Target.Wasm64` */
const wasm64 = 2;
const memoryName = '0';

/** @typedef {import('assemblyscript/binaryen').default.Module} Module */

export class WideAddresses extends Transform {
  constructor() {
    super();
    const { options, module } = this.program;
    options.target = wasm64;
    module.sizeType = options.sizeTypeRef;
  }

  /** @param {Module} module */
  afterCompile(module) {
    const { initial } = module.getMemoryInfo(memoryName);
    module.setFeatures(module.getFeatures() | this.binaryen.Features.Memory64);
    module.setMemory(initial, mostPages, null, [], true, true, memoryName);
    module.addMemoryImport(memoryName, 'env', 'memory', true);
    this.#takeDoubles(module);
  }

  /**
   * JavaScript would pass addresses of 64 bits as BigInt. Doubles hold them too, and are numbers there.
   *
   * @param {Module} module
   */
  #takeDoubles(module) {
    const { createType, expandType, f64, getExportInfo, getFunctionInfo, i64 } = this.binaryen;
    const exported = Array.from({ length: module.getNumExports() }, (_, k) =>
      getExportInfo(module.getExportByIndex(k)),
    );
    for (const { name, value, kind } of exported) {
      if (kind !== this.binaryen.ExternalFunction) continue;
      const { params, results } = getFunctionInfo(module.getFunction(value));
      const types = expandType(params);
      const passed = types.map((type) => (type === i64 ? f64 : type));
      const operands = types.map((type, k) => {
        const operand = module.local.get(k, passed[k]);
        return type === i64 ? module.i64.trunc_u.f64(operand) : operand;
      });
      const body = module.call(value, operands, results);
      module.addFunction(`${value}/called`, createType(passed), results, [], body);
      module.removeExport(name);
      module.addFunctionExport(`${value}/called`, name);
    }
  }
}
