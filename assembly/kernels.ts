// The entry of one WebAssembly module per loss: "./loss" is the loss it is built for.
export * from "./certificate";
export * from "./columns";
export * from "./dense";
export * from "./proximal";
export * from "./panels";
export * from "./rows";
export * from "./saddle";
export * from "./segments";
export * from "./sgd";
export * from "./stages";
export * from "./sums";
export * from "./vectors";
export * from "./whole-rows";
export * from "./working-set";
