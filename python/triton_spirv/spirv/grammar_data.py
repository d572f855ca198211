"""The SPIR-V grammar as text, a line per entry; written by tools/generate_grammar.py, which is what to edit.

From the SPIR-V headers of the Khronos Group, SPIR-V 1.6 revision 4. Their notice:

    Copyright: 2014-2024 The Khronos Group Inc.
    License: MIT

    MODIFICATIONS TO THIS FILE MAY MEAN IT NO LONGER ACCURATELY REFLECTS
    KHRONOS STANDARDS. THE UNMODIFIED, NORMATIVE VERSIONS OF KHRONOS
    SPECIFICATIONS AND HEADER INFORMATION ARE LOCATED AT
    https://www.khronos.org/registry/
"""

KINDS = """\
ImageOperands BitEnum
FPFastMathMode BitEnum
SelectionControl BitEnum
LoopControl BitEnum
FunctionControl BitEnum
MemorySemantics BitEnum
MemoryAccess BitEnum
KernelProfilingInfo BitEnum
RayFlags BitEnum
FragmentShadingRate BitEnum
RawAccessChainOperands BitEnum
SourceLanguage ValueEnum
ExecutionModel ValueEnum
AddressingModel ValueEnum
MemoryModel ValueEnum
ExecutionMode ValueEnum
StorageClass ValueEnum
Dim ValueEnum
SamplerAddressingMode ValueEnum
SamplerFilterMode ValueEnum
ImageFormat ValueEnum
ImageChannelOrder ValueEnum
ImageChannelDataType ValueEnum
FPRoundingMode ValueEnum
FPDenormMode ValueEnum
QuantizationModes ValueEnum
FPOperationMode ValueEnum
OverflowModes ValueEnum
LinkageType ValueEnum
AccessQualifier ValueEnum
HostAccessQualifier ValueEnum
FunctionParameterAttribute ValueEnum
Decoration ValueEnum
BuiltIn ValueEnum
Scope ValueEnum
GroupOperation ValueEnum
KernelEnqueueFlags ValueEnum
Capability ValueEnum
RayQueryIntersection ValueEnum
RayQueryCommittedIntersectionType ValueEnum
RayQueryCandidateIntersectionType ValueEnum
PackedVectorFormat ValueEnum
CooperativeMatrixOperands BitEnum
CooperativeMatrixLayout ValueEnum
CooperativeMatrixUse ValueEnum
CooperativeMatrixReduce BitEnum
TensorClampMode ValueEnum
TensorAddressingOperands BitEnum
InitializationModeQualifier ValueEnum
LoadCacheControl ValueEnum
StoreCacheControl ValueEnum
NamedMaximumNumberOfRegisters ValueEnum
MatrixMultiplyAccumulateOperands BitEnum
FPEncoding ValueEnum
CooperativeVectorMatrixLayout ValueEnum
ComponentType ValueEnum
IdResultType Id
IdResult Id
IdMemorySemantics Id
IdScope Id
IdRef Id
LiteralInteger Literal
LiteralString Literal
LiteralFloat Literal
LiteralContextDependentNumber Literal
LiteralExtInstInteger Literal
LiteralSpecConstantOpInteger Literal
PairLiteralIntegerIdRef Composite LiteralInteger IdRef
PairIdRefLiteralInteger Composite IdRef LiteralInteger
PairIdRefIdRef Composite IdRef IdRef
TensorOperands BitEnum
"""

INSTRUCTIONS = """\
OpNop 0 Miscellaneous 1.0
OpUndef 1 Miscellaneous 1.0 IdResultType IdResult
OpSourceContinued 2 Debug 1.0 LiteralString:ContinuedSource
OpSource 3 Debug 1.0 SourceLanguage LiteralInteger:Version IdRef?:File LiteralString?:Source
OpSourceExtension 4 Debug 1.0 LiteralString:Extension
OpName 5 Debug 1.0 IdRef:Target LiteralString:Name
OpMemberName 6 Debug 1.0 IdRef:Type LiteralInteger:Member LiteralString:Name
OpString 7 Debug 1.0 IdResult LiteralString:String
OpLine 8 Debug 1.0 IdRef:File LiteralInteger:Line LiteralInteger:Column
OpExtension 10 Extension 1.0 LiteralString:Name
OpExtInstImport 11 Extension 1.0 IdResult LiteralString:Name
OpExtInst 12 Extension 1.0 IdResultType IdResult IdRef:Set LiteralExtInstInteger:Instruction IdRef*:Operand
OpMemoryModel 14 Mode-Setting 1.0 AddressingModel MemoryModel
OpEntryPoint 15 Mode-Setting 1.0 ExecutionModel IdRef:EntryPoint LiteralString:Name IdRef*:Interface
OpExecutionMode 16 Mode-Setting 1.0 IdRef:EntryPoint ExecutionMode:Mode
OpCapability 17 Mode-Setting 1.0 Capability
OpTypeVoid 19 Type-Declaration 1.0 IdResult
OpTypeBool 20 Type-Declaration 1.0 IdResult
OpTypeInt 21 Type-Declaration 1.0 IdResult LiteralInteger:Width LiteralInteger:Signedness
OpTypeFloat 22 Type-Declaration 1.0 IdResult LiteralInteger:Width FPEncoding?:FloatingPointEncoding
OpTypeVector 23 Type-Declaration 1.0 IdResult IdRef:ComponentType LiteralInteger:ComponentCount
OpTypeMatrix 24 Type-Declaration 1.0 IdResult IdRef:ColumnType LiteralInteger:ColumnCount capabilities=Matrix
OpTypeImage 25 Type-Declaration 1.0 IdResult IdRef:SampledType Dim LiteralInteger:Depth LiteralInteger:Arrayed LiteralInteger:MS LiteralInteger:Sampled ImageFormat AccessQualifier?
OpTypeSampler 26 Type-Declaration 1.0 IdResult
OpTypeSampledImage 27 Type-Declaration 1.0 IdResult IdRef:ImageType
OpTypeArray 28 Type-Declaration 1.0 IdResult IdRef:ElementType IdRef:Length
OpTypeRuntimeArray 29 Type-Declaration 1.0 IdResult IdRef:ElementType capabilities=Shader
OpTypeStruct 30 Type-Declaration 1.0 IdResult IdRef*:Member0Type
OpTypeOpaque 31 Type-Declaration 1.0 IdResult LiteralString:TheNameOfTheOpaqueType capabilities=Kernel
OpTypePointer 32 Type-Declaration 1.0 IdResult StorageClass IdRef:Type
OpTypeFunction 33 Type-Declaration 1.0 IdResult IdRef:ReturnType IdRef*:Parameter0Type
OpTypeEvent 34 Type-Declaration 1.0 IdResult capabilities=Kernel
OpTypeDeviceEvent 35 Type-Declaration 1.0 IdResult capabilities=DeviceEnqueue
OpTypeReserveId 36 Type-Declaration 1.0 IdResult capabilities=Pipes
OpTypeQueue 37 Type-Declaration 1.0 IdResult capabilities=DeviceEnqueue
OpTypePipe 38 Type-Declaration 1.0 IdResult AccessQualifier:Qualifier capabilities=Pipes
OpTypeForwardPointer 39 Type-Declaration 1.0 IdRef:PointerType StorageClass capabilities=Addresses|PhysicalStorageBufferAddresses
OpConstantTrue 41 Constant-Creation 1.0 IdResultType IdResult
OpConstantFalse 42 Constant-Creation 1.0 IdResultType IdResult
OpConstant 43 Constant-Creation 1.0 IdResultType IdResult LiteralContextDependentNumber:Value
OpConstantComposite 44 Constant-Creation 1.0 IdResultType IdResult IdRef*:Constituents
OpConstantSampler 45 Constant-Creation 1.0 IdResultType IdResult SamplerAddressingMode LiteralInteger:Param SamplerFilterMode capabilities=LiteralSampler
OpConstantNull 46 Constant-Creation 1.0 IdResultType IdResult
OpSpecConstantTrue 48 Constant-Creation 1.0 IdResultType IdResult
OpSpecConstantFalse 49 Constant-Creation 1.0 IdResultType IdResult
OpSpecConstant 50 Constant-Creation 1.0 IdResultType IdResult LiteralContextDependentNumber:Value
OpSpecConstantComposite 51 Constant-Creation 1.0 IdResultType IdResult IdRef*:Constituents
OpSpecConstantOp 52 Constant-Creation 1.0 IdResultType IdResult LiteralSpecConstantOpInteger:Opcode
OpFunction 54 Function 1.0 IdResultType IdResult FunctionControl IdRef:FunctionType
OpFunctionParameter 55 Function 1.0 IdResultType IdResult
OpFunctionEnd 56 Function 1.0
OpFunctionCall 57 Function 1.0 IdResultType IdResult IdRef:Function IdRef*:Argument
OpVariable 59 Memory 1.0 IdResultType IdResult StorageClass IdRef?:Initializer
OpImageTexelPointer 60 Memory 1.0 IdResultType IdResult IdRef:Image IdRef:Coordinate IdRef:Sample
OpLoad 61 Memory 1.0 IdResultType IdResult IdRef:Pointer MemoryAccess?
OpStore 62 Memory 1.0 IdRef:Pointer IdRef:Object MemoryAccess?
OpCopyMemory 63 Memory 1.0 IdRef:Target IdRef:Source MemoryAccess? MemoryAccess?
OpCopyMemorySized 64 Memory 1.0 IdRef:Target IdRef:Source IdRef:Size MemoryAccess? MemoryAccess? capabilities=Addresses|UntypedPointersKHR
OpAccessChain 65 Memory 1.0 IdResultType IdResult IdRef:Base IdRef*:Indexes
OpInBoundsAccessChain 66 Memory 1.0 IdResultType IdResult IdRef:Base IdRef*:Indexes
OpPtrAccessChain 67 Memory 1.0 IdResultType IdResult IdRef:Base IdRef:Element IdRef*:Indexes capabilities=Addresses|VariablePointers|VariablePointersStorageBuffer|PhysicalStorageBufferAddresses
OpArrayLength 68 Memory 1.0 IdResultType IdResult IdRef:Structure LiteralInteger:ArrayMember capabilities=Shader
OpGenericPtrMemSemantics 69 Memory 1.0 IdResultType IdResult IdRef:Pointer capabilities=Kernel
OpInBoundsPtrAccessChain 70 Memory 1.0 IdResultType IdResult IdRef:Base IdRef:Element IdRef*:Indexes capabilities=Addresses
OpDecorate 71 Annotation 1.0 IdRef:Target Decoration
OpMemberDecorate 72 Annotation 1.0 IdRef:StructureType LiteralInteger:Member Decoration
OpDecorationGroup 73 Annotation 1.0 IdResult
OpGroupDecorate 74 Annotation 1.0 IdRef:DecorationGroup IdRef*:Targets
OpGroupMemberDecorate 75 Annotation 1.0 IdRef:DecorationGroup PairIdRefLiteralInteger*:Targets
OpVectorExtractDynamic 77 Composite 1.0 IdResultType IdResult IdRef:Vector IdRef:Index
OpVectorInsertDynamic 78 Composite 1.0 IdResultType IdResult IdRef:Vector IdRef:Component IdRef:Index
OpVectorShuffle 79 Composite 1.0 IdResultType IdResult IdRef:Vector IdRef:Vector LiteralInteger*:Components
OpCompositeConstruct 80 Composite 1.0 IdResultType IdResult IdRef*:Constituents
OpCompositeExtract 81 Composite 1.0 IdResultType IdResult IdRef:Composite LiteralInteger*:Indexes
OpCompositeInsert 82 Composite 1.0 IdResultType IdResult IdRef:Object IdRef:Composite LiteralInteger*:Indexes
OpCopyObject 83 Composite 1.0 IdResultType IdResult IdRef:Operand
OpTranspose 84 Composite 1.0 IdResultType IdResult IdRef:Matrix capabilities=Matrix
OpSampledImage 86 Image 1.0 IdResultType IdResult IdRef:Image IdRef:Sampler
OpImageSampleImplicitLod 87 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands? capabilities=Shader
OpImageSampleExplicitLod 88 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands
OpImageSampleDrefImplicitLod 89 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands? capabilities=Shader
OpImageSampleDrefExplicitLod 90 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands capabilities=Shader
OpImageSampleProjImplicitLod 91 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands? capabilities=Shader
OpImageSampleProjExplicitLod 92 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands capabilities=Shader
OpImageSampleProjDrefImplicitLod 93 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands? capabilities=Shader
OpImageSampleProjDrefExplicitLod 94 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands capabilities=Shader
OpImageFetch 95 Image 1.0 IdResultType IdResult IdRef:Image IdRef:Coordinate ImageOperands?
OpImageGather 96 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:Component ImageOperands? capabilities=Shader
OpImageDrefGather 97 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands? capabilities=Shader
OpImageRead 98 Image 1.0 IdResultType IdResult IdRef:Image IdRef:Coordinate ImageOperands?
OpImageWrite 99 Image 1.0 IdRef:Image IdRef:Coordinate IdRef:Texel ImageOperands?
OpImage 100 Image 1.0 IdResultType IdResult IdRef:SampledImage
OpImageQueryFormat 101 Image 1.0 IdResultType IdResult IdRef:Image capabilities=Kernel
OpImageQueryOrder 102 Image 1.0 IdResultType IdResult IdRef:Image capabilities=Kernel
OpImageQuerySizeLod 103 Image 1.0 IdResultType IdResult IdRef:Image IdRef:LevelOfDetail capabilities=Kernel|ImageQuery
OpImageQuerySize 104 Image 1.0 IdResultType IdResult IdRef:Image capabilities=Kernel|ImageQuery
OpImageQueryLod 105 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate capabilities=ImageQuery
OpImageQueryLevels 106 Image 1.0 IdResultType IdResult IdRef:Image capabilities=Kernel|ImageQuery
OpImageQuerySamples 107 Image 1.0 IdResultType IdResult IdRef:Image capabilities=Kernel|ImageQuery
OpConvertFToU 109 Conversion 1.0 IdResultType IdResult IdRef:FloatValue
OpConvertFToS 110 Conversion 1.0 IdResultType IdResult IdRef:FloatValue
OpConvertSToF 111 Conversion 1.0 IdResultType IdResult IdRef:SignedValue
OpConvertUToF 112 Conversion 1.0 IdResultType IdResult IdRef:UnsignedValue
OpUConvert 113 Conversion 1.0 IdResultType IdResult IdRef:UnsignedValue
OpSConvert 114 Conversion 1.0 IdResultType IdResult IdRef:SignedValue
OpFConvert 115 Conversion 1.0 IdResultType IdResult IdRef:FloatValue
OpQuantizeToF16 116 Conversion 1.0 IdResultType IdResult IdRef:Value capabilities=Shader
OpConvertPtrToU 117 Conversion 1.0 IdResultType IdResult IdRef:Pointer capabilities=Addresses|PhysicalStorageBufferAddresses
OpSatConvertSToU 118 Conversion 1.0 IdResultType IdResult IdRef:SignedValue capabilities=Kernel
OpSatConvertUToS 119 Conversion 1.0 IdResultType IdResult IdRef:UnsignedValue capabilities=Kernel
OpConvertUToPtr 120 Conversion 1.0 IdResultType IdResult IdRef:IntegerValue capabilities=Addresses|PhysicalStorageBufferAddresses
OpPtrCastToGeneric 121 Conversion 1.0 IdResultType IdResult IdRef:Pointer capabilities=Kernel
OpGenericCastToPtr 122 Conversion 1.0 IdResultType IdResult IdRef:Pointer capabilities=Kernel
OpGenericCastToPtrExplicit 123 Conversion 1.0 IdResultType IdResult IdRef:Pointer StorageClass:Storage capabilities=Kernel
OpBitcast 124 Conversion 1.0 IdResultType IdResult IdRef:Operand
OpSNegate 126 Arithmetic 1.0 IdResultType IdResult IdRef:Operand
OpFNegate 127 Arithmetic 1.0 IdResultType IdResult IdRef:Operand
OpIAdd 128 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFAdd 129 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpISub 130 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFSub 131 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpIMul 132 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFMul 133 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpUDiv 134 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSDiv 135 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFDiv 136 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpUMod 137 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSRem 138 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSMod 139 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFRem 140 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFMod 141 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpVectorTimesScalar 142 Arithmetic 1.0 IdResultType IdResult IdRef:Vector IdRef:Scalar
OpMatrixTimesScalar 143 Arithmetic 1.0 IdResultType IdResult IdRef:Matrix IdRef:Scalar capabilities=Matrix
OpVectorTimesMatrix 144 Arithmetic 1.0 IdResultType IdResult IdRef:Vector IdRef:Matrix capabilities=Matrix
OpMatrixTimesVector 145 Arithmetic 1.0 IdResultType IdResult IdRef:Matrix IdRef:Vector capabilities=Matrix
OpMatrixTimesMatrix 146 Arithmetic 1.0 IdResultType IdResult IdRef:LeftMatrix IdRef:RightMatrix capabilities=Matrix
OpOuterProduct 147 Arithmetic 1.0 IdResultType IdResult IdRef:Vector IdRef:Vector capabilities=Matrix
OpDot 148 Arithmetic 1.0 IdResultType IdResult IdRef:Vector IdRef:Vector
OpIAddCarry 149 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpISubBorrow 150 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpUMulExtended 151 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSMulExtended 152 Arithmetic 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpAny 154 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Vector
OpAll 155 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Vector
OpIsNan 156 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X
OpIsInf 157 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X
OpIsFinite 158 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X capabilities=Kernel
OpIsNormal 159 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X capabilities=Kernel
OpSignBitSet 160 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X capabilities=Kernel
OpLessOrGreater 161 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X IdRef:Y capabilities=Kernel
OpOrdered 162 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X IdRef:Y capabilities=Kernel
OpUnordered 163 Relational_and_Logical 1.0 IdResultType IdResult IdRef:X IdRef:Y capabilities=Kernel
OpLogicalEqual 164 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpLogicalNotEqual 165 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpLogicalOr 166 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpLogicalAnd 167 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpLogicalNot 168 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand
OpSelect 169 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Condition IdRef:Object IdRef:Object
OpIEqual 170 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpINotEqual 171 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpUGreaterThan 172 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSGreaterThan 173 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpUGreaterThanEqual 174 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSGreaterThanEqual 175 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpULessThan 176 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSLessThan 177 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpULessThanEqual 178 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpSLessThanEqual 179 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFOrdEqual 180 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFUnordEqual 181 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFOrdNotEqual 182 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFUnordNotEqual 183 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFOrdLessThan 184 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFUnordLessThan 185 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFOrdGreaterThan 186 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFUnordGreaterThan 187 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFOrdLessThanEqual 188 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFUnordLessThanEqual 189 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFOrdGreaterThanEqual 190 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpFUnordGreaterThanEqual 191 Relational_and_Logical 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpShiftRightLogical 194 Bit 1.0 IdResultType IdResult IdRef:Base IdRef:Shift
OpShiftRightArithmetic 195 Bit 1.0 IdResultType IdResult IdRef:Base IdRef:Shift
OpShiftLeftLogical 196 Bit 1.0 IdResultType IdResult IdRef:Base IdRef:Shift
OpBitwiseOr 197 Bit 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpBitwiseXor 198 Bit 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpBitwiseAnd 199 Bit 1.0 IdResultType IdResult IdRef:Operand IdRef:Operand
OpNot 200 Bit 1.0 IdResultType IdResult IdRef:Operand
OpBitFieldInsert 201 Bit 1.0 IdResultType IdResult IdRef:Base IdRef:Insert IdRef:Offset IdRef:Count capabilities=Shader|BitInstructions
OpBitFieldSExtract 202 Bit 1.0 IdResultType IdResult IdRef:Base IdRef:Offset IdRef:Count capabilities=Shader|BitInstructions
OpBitFieldUExtract 203 Bit 1.0 IdResultType IdResult IdRef:Base IdRef:Offset IdRef:Count capabilities=Shader|BitInstructions
OpBitReverse 204 Bit 1.0 IdResultType IdResult IdRef:Base capabilities=Shader|BitInstructions
OpBitCount 205 Bit 1.0 IdResultType IdResult IdRef:Base
OpDPdx 207 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=Shader
OpDPdy 208 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=Shader
OpFwidth 209 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=Shader
OpDPdxFine 210 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=DerivativeControl
OpDPdyFine 211 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=DerivativeControl
OpFwidthFine 212 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=DerivativeControl
OpDPdxCoarse 213 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=DerivativeControl
OpDPdyCoarse 214 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=DerivativeControl
OpFwidthCoarse 215 Derivative 1.0 IdResultType IdResult IdRef:P capabilities=DerivativeControl
OpEmitVertex 218 Primitive 1.0 capabilities=Geometry
OpEndPrimitive 219 Primitive 1.0 capabilities=Geometry
OpEmitStreamVertex 220 Primitive 1.0 IdRef:Stream capabilities=GeometryStreams
OpEndStreamPrimitive 221 Primitive 1.0 IdRef:Stream capabilities=GeometryStreams
OpControlBarrier 224 Barrier 1.0 IdScope:Execution IdScope:Memory IdMemorySemantics:Semantics
OpMemoryBarrier 225 Barrier 1.0 IdScope:Memory IdMemorySemantics:Semantics
OpAtomicLoad 227 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics
OpAtomicStore 228 Atomic 1.0 IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicExchange 229 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicCompareExchange 230 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Equal IdMemorySemantics:Unequal IdRef:Value IdRef:Comparator
OpAtomicCompareExchangeWeak 231 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Equal IdMemorySemantics:Unequal IdRef:Value IdRef:Comparator capabilities=Kernel
OpAtomicIIncrement 232 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics
OpAtomicIDecrement 233 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics
OpAtomicIAdd 234 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicISub 235 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicSMin 236 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicUMin 237 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicSMax 238 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicUMax 239 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicAnd 240 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicOr 241 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpAtomicXor 242 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value
OpPhi 245 Control-Flow 1.0 IdResultType IdResult PairIdRefIdRef*:Variable
OpLoopMerge 246 Control-Flow 1.0 IdRef:MergeBlock IdRef:ContinueTarget LoopControl
OpSelectionMerge 247 Control-Flow 1.0 IdRef:MergeBlock SelectionControl
OpLabel 248 Control-Flow 1.0 IdResult
OpBranch 249 Control-Flow 1.0 IdRef:TargetLabel
OpBranchConditional 250 Control-Flow 1.0 IdRef:Condition IdRef:TrueLabel IdRef:FalseLabel LiteralInteger*:BranchWeights
OpSwitch 251 Control-Flow 1.0 IdRef:Selector IdRef:Default PairLiteralIntegerIdRef*:Target
OpKill 252 Control-Flow 1.0 capabilities=Shader
OpReturn 253 Control-Flow 1.0
OpReturnValue 254 Control-Flow 1.0 IdRef:Value
OpUnreachable 255 Control-Flow 1.0
OpLifetimeStart 256 Control-Flow 1.0 IdRef:Pointer LiteralInteger:Size capabilities=Kernel
OpLifetimeStop 257 Control-Flow 1.0 IdRef:Pointer LiteralInteger:Size capabilities=Kernel
OpGroupAsyncCopy 259 Group 1.0 IdResultType IdResult IdScope:Execution IdRef:Destination IdRef:Source IdRef:NumElements IdRef:Stride IdRef:Event capabilities=Kernel
OpGroupWaitEvents 260 Group 1.0 IdScope:Execution IdRef:NumEvents IdRef:EventsList capabilities=Kernel
OpGroupAll 261 Group 1.0 IdResultType IdResult IdScope:Execution IdRef:Predicate capabilities=Groups
OpGroupAny 262 Group 1.0 IdResultType IdResult IdScope:Execution IdRef:Predicate capabilities=Groups
OpGroupBroadcast 263 Group 1.0 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:LocalId capabilities=Groups
OpGroupIAdd 264 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpGroupFAdd 265 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpGroupFMin 266 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpGroupUMin 267 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpGroupSMin 268 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpGroupFMax 269 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpGroupUMax 270 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpGroupSMax 271 Group 1.0 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups
OpReadPipe 274 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:Pointer IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpWritePipe 275 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:Pointer IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpReservedReadPipe 276 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:ReserveId IdRef:Index IdRef:Pointer IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpReservedWritePipe 277 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:ReserveId IdRef:Index IdRef:Pointer IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpReserveReadPipePackets 278 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:NumPackets IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpReserveWritePipePackets 279 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:NumPackets IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpCommitReadPipe 280 Pipe 1.0 IdRef:Pipe IdRef:ReserveId IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpCommitWritePipe 281 Pipe 1.0 IdRef:Pipe IdRef:ReserveId IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpIsValidReserveId 282 Pipe 1.0 IdResultType IdResult IdRef:ReserveId capabilities=Pipes
OpGetNumPipePackets 283 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpGetMaxPipePackets 284 Pipe 1.0 IdResultType IdResult IdRef:Pipe IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpGroupReserveReadPipePackets 285 Pipe 1.0 IdResultType IdResult IdScope:Execution IdRef:Pipe IdRef:NumPackets IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpGroupReserveWritePipePackets 286 Pipe 1.0 IdResultType IdResult IdScope:Execution IdRef:Pipe IdRef:NumPackets IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpGroupCommitReadPipe 287 Pipe 1.0 IdScope:Execution IdRef:Pipe IdRef:ReserveId IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpGroupCommitWritePipe 288 Pipe 1.0 IdScope:Execution IdRef:Pipe IdRef:ReserveId IdRef:PacketSize IdRef:PacketAlignment capabilities=Pipes
OpEnqueueMarker 291 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:Queue IdRef:NumEvents IdRef:WaitEvents IdRef:RetEvent capabilities=DeviceEnqueue
OpEnqueueKernel 292 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:Queue IdRef:Flags IdRef:NDRange IdRef:NumEvents IdRef:WaitEvents IdRef:RetEvent IdRef:Invoke IdRef:Param IdRef:ParamSize IdRef:ParamAlign IdRef*:LocalSize capabilities=DeviceEnqueue
OpGetKernelNDrangeSubGroupCount 293 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:NDRange IdRef:Invoke IdRef:Param IdRef:ParamSize IdRef:ParamAlign capabilities=DeviceEnqueue
OpGetKernelNDrangeMaxSubGroupSize 294 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:NDRange IdRef:Invoke IdRef:Param IdRef:ParamSize IdRef:ParamAlign capabilities=DeviceEnqueue
OpGetKernelWorkGroupSize 295 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:Invoke IdRef:Param IdRef:ParamSize IdRef:ParamAlign capabilities=DeviceEnqueue
OpGetKernelPreferredWorkGroupSizeMultiple 296 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:Invoke IdRef:Param IdRef:ParamSize IdRef:ParamAlign capabilities=DeviceEnqueue
OpRetainEvent 297 Device-Side_Enqueue 1.0 IdRef:Event capabilities=DeviceEnqueue
OpReleaseEvent 298 Device-Side_Enqueue 1.0 IdRef:Event capabilities=DeviceEnqueue
OpCreateUserEvent 299 Device-Side_Enqueue 1.0 IdResultType IdResult capabilities=DeviceEnqueue
OpIsValidEvent 300 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:Event capabilities=DeviceEnqueue
OpSetUserEventStatus 301 Device-Side_Enqueue 1.0 IdRef:Event IdRef:Status capabilities=DeviceEnqueue
OpCaptureEventProfilingInfo 302 Device-Side_Enqueue 1.0 IdRef:Event IdRef:ProfilingInfo IdRef:Value capabilities=DeviceEnqueue
OpGetDefaultQueue 303 Device-Side_Enqueue 1.0 IdResultType IdResult capabilities=DeviceEnqueue
OpBuildNDRange 304 Device-Side_Enqueue 1.0 IdResultType IdResult IdRef:GlobalWorkSize IdRef:LocalWorkSize IdRef:GlobalWorkOffset capabilities=DeviceEnqueue
OpImageSparseSampleImplicitLod 305 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands? capabilities=SparseResidency
OpImageSparseSampleExplicitLod 306 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands capabilities=SparseResidency
OpImageSparseSampleDrefImplicitLod 307 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands? capabilities=SparseResidency
OpImageSparseSampleDrefExplicitLod 308 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands capabilities=SparseResidency
OpImageSparseSampleProjImplicitLod 309 Image None IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands? capabilities=SparseResidency
OpImageSparseSampleProjExplicitLod 310 Image None IdResultType IdResult IdRef:SampledImage IdRef:Coordinate ImageOperands capabilities=SparseResidency
OpImageSparseSampleProjDrefImplicitLod 311 Image None IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands? capabilities=SparseResidency
OpImageSparseSampleProjDrefExplicitLod 312 Image None IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands capabilities=SparseResidency
OpImageSparseFetch 313 Image 1.0 IdResultType IdResult IdRef:Image IdRef:Coordinate ImageOperands? capabilities=SparseResidency
OpImageSparseGather 314 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:Component ImageOperands? capabilities=SparseResidency
OpImageSparseDrefGather 315 Image 1.0 IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:DRef ImageOperands? capabilities=SparseResidency
OpImageSparseTexelsResident 316 Image 1.0 IdResultType IdResult IdRef:ResidentCode capabilities=SparseResidency
OpNoLine 317 Debug 1.0
OpAtomicFlagTestAndSet 318 Atomic 1.0 IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics capabilities=Kernel
OpAtomicFlagClear 319 Atomic 1.0 IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics capabilities=Kernel
OpImageSparseRead 320 Image 1.0 IdResultType IdResult IdRef:Image IdRef:Coordinate ImageOperands? capabilities=SparseResidency
OpSizeOf 321 Miscellaneous 1.1 IdResultType IdResult IdRef:Pointer capabilities=Addresses
OpTypePipeStorage 322 Type-Declaration 1.1 IdResult capabilities=PipeStorage
OpConstantPipeStorage 323 Pipe 1.1 IdResultType IdResult LiteralInteger:PacketSize LiteralInteger:PacketAlignment LiteralInteger:Capacity capabilities=PipeStorage
OpCreatePipeFromPipeStorage 324 Pipe 1.1 IdResultType IdResult IdRef:PipeStorage capabilities=PipeStorage
OpGetKernelLocalSizeForSubgroupCount 325 Device-Side_Enqueue 1.1 IdResultType IdResult IdRef:SubgroupCount IdRef:Invoke IdRef:Param IdRef:ParamSize IdRef:ParamAlign capabilities=SubgroupDispatch
OpGetKernelMaxNumSubgroups 326 Device-Side_Enqueue 1.1 IdResultType IdResult IdRef:Invoke IdRef:Param IdRef:ParamSize IdRef:ParamAlign capabilities=SubgroupDispatch
OpTypeNamedBarrier 327 Type-Declaration 1.1 IdResult capabilities=NamedBarrier
OpNamedBarrierInitialize 328 Barrier 1.1 IdResultType IdResult IdRef:SubgroupCount capabilities=NamedBarrier
OpMemoryNamedBarrier 329 Barrier 1.1 IdRef:NamedBarrier IdScope:Memory IdMemorySemantics:Semantics capabilities=NamedBarrier
OpModuleProcessed 330 Debug 1.1 LiteralString:Process
OpExecutionModeId 331 Mode-Setting 1.2 IdRef:EntryPoint ExecutionMode:Mode
OpDecorateId 332 Annotation 1.2 IdRef:Target Decoration extensions=SPV_GOOGLE_hlsl_functionality1
OpGroupNonUniformElect 333 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution capabilities=GroupNonUniform
OpGroupNonUniformAll 334 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Predicate capabilities=GroupNonUniformVote
OpGroupNonUniformAny 335 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Predicate capabilities=GroupNonUniformVote
OpGroupNonUniformAllEqual 336 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value capabilities=GroupNonUniformVote
OpGroupNonUniformBroadcast 337 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:InvocationId capabilities=GroupNonUniformBallot
OpGroupNonUniformBroadcastFirst 338 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value capabilities=GroupNonUniformBallot
OpGroupNonUniformBallot 339 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Predicate capabilities=GroupNonUniformBallot
OpGroupNonUniformInverseBallot 340 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value capabilities=GroupNonUniformBallot
OpGroupNonUniformBallotBitExtract 341 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:Index capabilities=GroupNonUniformBallot
OpGroupNonUniformBallotBitCount 342 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value capabilities=GroupNonUniformBallot
OpGroupNonUniformBallotFindLSB 343 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value capabilities=GroupNonUniformBallot
OpGroupNonUniformBallotFindMSB 344 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value capabilities=GroupNonUniformBallot
OpGroupNonUniformShuffle 345 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:InvocationId capabilities=GroupNonUniformShuffle
OpGroupNonUniformShuffleXor 346 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:Mask capabilities=GroupNonUniformShuffle
OpGroupNonUniformShuffleUp 347 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:Delta capabilities=GroupNonUniformShuffleRelative
OpGroupNonUniformShuffleDown 348 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:Delta capabilities=GroupNonUniformShuffleRelative
OpGroupNonUniformIAdd 349 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformFAdd 350 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformIMul 351 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformFMul 352 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformSMin 353 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformUMin 354 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformFMin 355 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformSMax 356 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformUMax 357 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformFMax 358 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformBitwiseAnd 359 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformBitwiseOr 360 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformBitwiseXor 361 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformLogicalAnd 362 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformLogicalOr 363 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformLogicalXor 364 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:Value IdRef?:ClusterSize capabilities=GroupNonUniformArithmetic|GroupNonUniformClustered|GroupNonUniformPartitionedNV
OpGroupNonUniformQuadBroadcast 365 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:Index capabilities=GroupNonUniformQuad
OpGroupNonUniformQuadSwap 366 Non-Uniform 1.3 IdResultType IdResult IdScope:Execution IdRef:Value IdRef:Direction capabilities=GroupNonUniformQuad
OpCopyLogical 400 Composite 1.4 IdResultType IdResult IdRef:Operand
OpPtrEqual 401 Memory 1.4 IdResultType IdResult IdRef:Operand IdRef:Operand
OpPtrNotEqual 402 Memory 1.4 IdResultType IdResult IdRef:Operand IdRef:Operand
OpPtrDiff 403 Memory 1.4 IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=Addresses|VariablePointers|VariablePointersStorageBuffer
OpColorAttachmentReadEXT 4160 Image None IdResultType IdResult IdRef:Attachment IdRef?:Sample capabilities=TileImageColorReadAccessEXT
OpDepthAttachmentReadEXT 4161 Image None IdResultType IdResult IdRef?:Sample capabilities=TileImageDepthReadAccessEXT
OpStencilAttachmentReadEXT 4162 Image None IdResultType IdResult IdRef?:Sample capabilities=TileImageStencilReadAccessEXT
OpTypeTensorARM 4163 Type-Declaration None IdResult IdRef:ElementType IdRef?:Rank IdRef?:Shape capabilities=TensorsARM
OpTensorReadARM 4164 Tensor None IdResultType IdResult IdRef:Tensor IdRef:Coordinates TensorOperands? capabilities=TensorsARM
OpTensorWriteARM 4165 Tensor None IdRef:Tensor IdRef:Coordinates IdRef:Object TensorOperands? capabilities=TensorsARM
OpTensorQuerySizeARM 4166 Tensor None IdResultType IdResult IdRef:Tensor IdRef:Dimension capabilities=TensorsARM
OpGraphConstantARM 4181 Graph None IdResultType IdResult LiteralInteger:GraphConstantID capabilities=GraphARM
OpGraphEntryPointARM 4182 Graph None IdRef:Graph LiteralString:Name IdRef*:Interface capabilities=GraphARM
OpGraphARM 4183 Graph None IdResultType IdResult capabilities=GraphARM
OpGraphInputARM 4184 Graph None IdResultType IdResult IdRef:InputIndex IdRef*:ElementIndex capabilities=GraphARM
OpGraphSetOutputARM 4185 Graph None IdRef:Value IdRef:OutputIndex IdRef*:ElementIndex capabilities=GraphARM
OpGraphEndARM 4186 Graph None capabilities=GraphARM
OpTypeGraphARM 4190 Type-Declaration None IdResult LiteralInteger:NumInputs IdRef*:InOutTypes capabilities=GraphARM
OpTerminateInvocation 4416 Control-Flow 1.6 capabilities=Shader extensions=SPV_KHR_terminate_invocation
OpTypeUntypedPointerKHR 4417 Type-Declaration None IdResult StorageClass capabilities=UntypedPointersKHR
OpUntypedVariableKHR 4418 Memory None IdResultType IdResult StorageClass IdRef?:DataType IdRef?:Initializer capabilities=UntypedPointersKHR
OpUntypedAccessChainKHR 4419 Memory None IdResultType IdResult IdRef:BaseType IdRef:Base IdRef*:Indexes capabilities=UntypedPointersKHR
OpUntypedInBoundsAccessChainKHR 4420 Memory None IdResultType IdResult IdRef:BaseType IdRef:Base IdRef*:Indexes capabilities=UntypedPointersKHR
OpSubgroupBallotKHR 4421 Group None IdResultType IdResult IdRef:Predicate capabilities=SubgroupBallotKHR extensions=SPV_KHR_shader_ballot
OpSubgroupFirstInvocationKHR 4422 Group None IdResultType IdResult IdRef:Value capabilities=SubgroupBallotKHR extensions=SPV_KHR_shader_ballot
OpUntypedPtrAccessChainKHR 4423 Memory None IdResultType IdResult IdRef:BaseType IdRef:Base IdRef:Element IdRef*:Indexes capabilities=UntypedPointersKHR
OpUntypedInBoundsPtrAccessChainKHR 4424 Memory None IdResultType IdResult IdRef:BaseType IdRef:Base IdRef:Element IdRef*:Indexes capabilities=UntypedPointersKHR
OpUntypedArrayLengthKHR 4425 Memory None IdResultType IdResult IdRef:Structure IdRef:Pointer LiteralInteger:ArrayMember capabilities=UntypedPointersKHR
OpUntypedPrefetchKHR 4426 Memory None IdRef:PointerType IdRef:NumBytes IdRef?:RW IdRef?:Locality IdRef?:CacheType capabilities=UntypedPointersKHR
OpFmaKHR 4427 Arithmetic None IdResultType IdResult IdRef:Operand IdRef:Operand IdRef:Operand capabilities=FMAKHR
OpSubgroupAllKHR 4428 Group None IdResultType IdResult IdRef:Predicate capabilities=SubgroupVoteKHR extensions=SPV_KHR_subgroup_vote
OpSubgroupAnyKHR 4429 Group None IdResultType IdResult IdRef:Predicate capabilities=SubgroupVoteKHR extensions=SPV_KHR_subgroup_vote
OpSubgroupAllEqualKHR 4430 Group None IdResultType IdResult IdRef:Predicate capabilities=SubgroupVoteKHR extensions=SPV_KHR_subgroup_vote
OpGroupNonUniformRotateKHR 4431 Group None IdResultType IdResult IdScope:Execution IdRef:Value IdRef:Delta IdRef?:ClusterSize capabilities=GroupNonUniformRotateKHR
OpSubgroupReadInvocationKHR 4432 Group None IdResultType IdResult IdRef:Value IdRef:Index capabilities=SubgroupBallotKHR extensions=SPV_KHR_shader_ballot
OpExtInstWithForwardRefsKHR 4433 Extension None IdResultType IdResult IdRef:Set LiteralExtInstInteger:Instruction IdRef*:Operand extensions=SPV_KHR_relaxed_extended_instruction
OpUntypedGroupAsyncCopyKHR 4434 Group None IdResultType IdResult IdRef:Execution IdRef:Destination IdRef:Source IdRef:ElementNumBytes IdRef:NumElements IdRef:Stride IdRef:Event MemoryAccess?:DestinationMemoryOperands MemoryAccess?:SourceMemoryOperands capabilities=UntypedPointersKHR
OpTraceRayKHR 4445 Reserved None IdRef:Accel IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:Payload capabilities=RayTracingKHR extensions=SPV_KHR_ray_tracing
OpExecuteCallableKHR 4446 Reserved None IdRef:SBTIndex IdRef:CallableData capabilities=RayTracingKHR extensions=SPV_KHR_ray_tracing
OpConvertUToAccelerationStructureKHR 4447 Reserved None IdResultType IdResult IdRef:Accel capabilities=RayTracingKHR|RayQueryKHR extensions=SPV_KHR_ray_tracing|SPV_KHR_ray_query
OpIgnoreIntersectionKHR 4448 Reserved None capabilities=RayTracingKHR extensions=SPV_KHR_ray_tracing
OpTerminateRayKHR 4449 Reserved None capabilities=RayTracingKHR extensions=SPV_KHR_ray_tracing
OpSDot 4450 Arithmetic 1.6 IdResultType IdResult IdRef:Vector IdRef:Vector PackedVectorFormat? capabilities=DotProduct extensions=SPV_KHR_integer_dot_product
OpSDotKHR = OpSDot
OpUDot 4451 Arithmetic 1.6 IdResultType IdResult IdRef:Vector IdRef:Vector PackedVectorFormat? capabilities=DotProduct extensions=SPV_KHR_integer_dot_product
OpUDotKHR = OpUDot
OpSUDot 4452 Arithmetic 1.6 IdResultType IdResult IdRef:Vector IdRef:Vector PackedVectorFormat? capabilities=DotProduct extensions=SPV_KHR_integer_dot_product
OpSUDotKHR = OpSUDot
OpSDotAccSat 4453 Arithmetic 1.6 IdResultType IdResult IdRef:Vector IdRef:Vector IdRef:Accumulator PackedVectorFormat? capabilities=DotProduct extensions=SPV_KHR_integer_dot_product
OpSDotAccSatKHR = OpSDotAccSat
OpUDotAccSat 4454 Arithmetic 1.6 IdResultType IdResult IdRef:Vector IdRef:Vector IdRef:Accumulator PackedVectorFormat? capabilities=DotProduct extensions=SPV_KHR_integer_dot_product
OpUDotAccSatKHR = OpUDotAccSat
OpSUDotAccSat 4455 Arithmetic 1.6 IdResultType IdResult IdRef:Vector IdRef:Vector IdRef:Accumulator PackedVectorFormat? capabilities=DotProduct extensions=SPV_KHR_integer_dot_product
OpSUDotAccSatKHR = OpSUDotAccSat
OpTypeCooperativeMatrixKHR 4456 Type-Declaration None IdResult IdRef:ComponentType IdScope:Scope IdRef:Rows IdRef:Columns IdRef:Use capabilities=CooperativeMatrixKHR
OpCooperativeMatrixLoadKHR 4457 Memory None IdResultType IdResult IdRef:Pointer IdRef:MemoryLayout IdRef?:Stride MemoryAccess?:MemoryOperand capabilities=CooperativeMatrixKHR
OpCooperativeMatrixStoreKHR 4458 Memory None IdRef:Pointer IdRef:Object IdRef:MemoryLayout IdRef?:Stride MemoryAccess?:MemoryOperand capabilities=CooperativeMatrixKHR
OpCooperativeMatrixMulAddKHR 4459 Arithmetic None IdResultType IdResult IdRef:A IdRef:B IdRef:C CooperativeMatrixOperands? capabilities=CooperativeMatrixKHR
OpCooperativeMatrixLengthKHR 4460 Miscellaneous None IdResultType IdResult IdRef:Type capabilities=CooperativeMatrixKHR
OpConstantCompositeReplicateEXT 4461 Constant-Creation None IdResultType IdResult IdRef:Value capabilities=ReplicatedCompositesEXT
OpSpecConstantCompositeReplicateEXT 4462 Constant-Creation None IdResultType IdResult IdRef:Value capabilities=ReplicatedCompositesEXT
OpCompositeConstructReplicateEXT 4463 Composite None IdResultType IdResult IdRef:Value capabilities=ReplicatedCompositesEXT
OpTypeRayQueryKHR 4472 Type-Declaration None IdResult capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryInitializeKHR 4473 Reserved None IdRef:RayQuery IdRef:Accel IdRef:RayFlags IdRef:CullMask IdRef:RayOrigin IdRef:RayTMin IdRef:RayDirection IdRef:RayTMax capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryTerminateKHR 4474 Reserved None IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGenerateIntersectionKHR 4475 Reserved None IdRef:RayQuery IdRef:HitT capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryConfirmIntersectionKHR 4476 Reserved None IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryProceedKHR 4477 Reserved None IdResultType IdResult IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionTypeKHR 4479 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpImageSampleWeightedQCOM 4480 Image None IdResultType IdResult IdRef:Texture IdRef:Coordinates IdRef:Weights capabilities=TextureSampleWeightedQCOM
OpImageBoxFilterQCOM 4481 Image None IdResultType IdResult IdRef:Texture IdRef:Coordinates IdRef:BoxSize capabilities=TextureBoxFilterQCOM
OpImageBlockMatchSSDQCOM 4482 Image None IdResultType IdResult IdRef:Target IdRef:TargetCoordinates IdRef:Reference IdRef:ReferenceCoordinates IdRef:BlockSize capabilities=TextureBlockMatchQCOM
OpImageBlockMatchSADQCOM 4483 Image None IdResultType IdResult IdRef:Target IdRef:TargetCoordinates IdRef:Reference IdRef:ReferenceCoordinates IdRef:BlockSize capabilities=TextureBlockMatchQCOM
OpBitCastArrayQCOM 4497 Conversion None IdResultType IdResult IdRef:SourceArray capabilities=CooperativeMatrixConversionQCOM
OpImageBlockMatchWindowSSDQCOM 4500 Image None IdResultType IdResult IdRef:TargetSampledImage IdRef:TargetCoordinates IdRef:ReferenceSampledImage IdRef:ReferenceCoordinates IdRef:BlockSize capabilities=TextureBlockMatch2QCOM
OpImageBlockMatchWindowSADQCOM 4501 Image None IdResultType IdResult IdRef:TargetSampledImage IdRef:TargetCoordinates IdRef:ReferenceSampledImage IdRef:ReferenceCoordinates IdRef:BlockSize capabilities=TextureBlockMatch2QCOM
OpImageBlockMatchGatherSSDQCOM 4502 Image None IdResultType IdResult IdRef:TargetSampledImage IdRef:TargetCoordinates IdRef:ReferenceSampledImage IdRef:ReferenceCoordinates IdRef:BlockSize capabilities=TextureBlockMatch2QCOM
OpImageBlockMatchGatherSADQCOM 4503 Image None IdResultType IdResult IdRef:TargetSampledImage IdRef:TargetCoordinates IdRef:ReferenceSampledImage IdRef:ReferenceCoordinates IdRef:BlockSize capabilities=TextureBlockMatch2QCOM
OpCompositeConstructCoopMatQCOM 4540 Composite None IdResultType IdResult IdRef:SourceArray capabilities=CooperativeMatrixConversionQCOM
OpCompositeExtractCoopMatQCOM 4541 Composite None IdResultType IdResult IdRef:SourceCooperativeMatrix capabilities=CooperativeMatrixConversionQCOM
OpExtractSubArrayQCOM 4542 Composite None IdResultType IdResult IdRef:SourceArray IdRef:Index capabilities=CooperativeMatrixConversionQCOM
OpGroupIAddNonUniformAMD 5000 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpGroupFAddNonUniformAMD 5001 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpGroupFMinNonUniformAMD 5002 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpGroupUMinNonUniformAMD 5003 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpGroupSMinNonUniformAMD 5004 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpGroupFMaxNonUniformAMD 5005 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpGroupUMaxNonUniformAMD 5006 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpGroupSMaxNonUniformAMD 5007 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=Groups extensions=SPV_AMD_shader_ballot
OpFragmentMaskFetchAMD 5011 Reserved None IdResultType IdResult IdRef:Image IdRef:Coordinate capabilities=FragmentMaskAMD extensions=SPV_AMD_shader_fragment_mask
OpFragmentFetchAMD 5012 Reserved None IdResultType IdResult IdRef:Image IdRef:Coordinate IdRef:FragmentIndex capabilities=FragmentMaskAMD extensions=SPV_AMD_shader_fragment_mask
OpReadClockKHR 5056 Reserved None IdResultType IdResult IdScope:Scope capabilities=ShaderClockKHR
OpAllocateNodePayloadsAMDX 5074 Reserved None IdResultType IdResult IdScope:Visibility IdRef:PayloadCount IdRef:NodeIndex capabilities=ShaderEnqueueAMDX
OpEnqueueNodePayloadsAMDX 5075 Reserved None IdRef:PayloadArray capabilities=ShaderEnqueueAMDX
OpTypeNodePayloadArrayAMDX 5076 Reserved None IdResult IdRef:PayloadType capabilities=ShaderEnqueueAMDX
OpFinishWritingNodePayloadAMDX 5078 Reserved None IdResultType IdResult IdRef:Payload capabilities=ShaderEnqueueAMDX
OpNodePayloadArrayLengthAMDX 5090 Reserved None IdResultType IdResult IdRef:PayloadArray capabilities=ShaderEnqueueAMDX
OpIsNodePayloadValidAMDX 5101 Reserved None IdResultType IdResult IdRef:PayloadType IdRef:NodeIndex capabilities=ShaderEnqueueAMDX
OpConstantStringAMDX 5103 Reserved None IdResult LiteralString capabilities=ShaderEnqueueAMDX
OpSpecConstantStringAMDX 5104 Reserved None IdResult LiteralString capabilities=ShaderEnqueueAMDX
OpGroupNonUniformQuadAllKHR 5110 Non-Uniform None IdResultType IdResult IdRef:Predicate capabilities=QuadControlKHR
OpGroupNonUniformQuadAnyKHR 5111 Non-Uniform None IdResultType IdResult IdRef:Predicate capabilities=QuadControlKHR
OpHitObjectRecordHitMotionNV 5249 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:InstanceId IdRef:PrimitiveId IdRef:GeometryIndex IdRef:HitKind IdRef:SBTRecordOffset IdRef:SBTRecordStride IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax IdRef:CurrentTime IdRef:HitObjectAttributes capabilities=ShaderInvocationReorderNV|RayTracingMotionBlurNV
OpHitObjectRecordHitWithIndexMotionNV 5250 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:InstanceId IdRef:PrimitiveId IdRef:GeometryIndex IdRef:HitKind IdRef:SBTRecordIndex IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax IdRef:CurrentTime IdRef:HitObjectAttributes capabilities=ShaderInvocationReorderNV|RayTracingMotionBlurNV
OpHitObjectRecordMissMotionNV 5251 Reserved None IdRef:HitObject IdRef:SBTIndex IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax IdRef:CurrentTime capabilities=ShaderInvocationReorderNV|RayTracingMotionBlurNV
OpHitObjectGetWorldToObjectNV 5252 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetObjectToWorldNV 5253 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetObjectRayDirectionNV 5254 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetObjectRayOriginNV 5255 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectTraceRayMotionNV 5256 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:RayFlags IdRef:Cullmask IdRef:SBTRecordOffset IdRef:SBTRecordStride IdRef:MissIndex IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax IdRef:Time IdRef:Payload capabilities=ShaderInvocationReorderNV|RayTracingMotionBlurNV
OpHitObjectGetShaderRecordBufferHandleNV 5257 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetShaderBindingTableRecordIndexNV 5258 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectRecordEmptyNV 5259 Reserved None IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectTraceRayNV 5260 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:RayFlags IdRef:Cullmask IdRef:SBTRecordOffset IdRef:SBTRecordStride IdRef:MissIndex IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax IdRef:Payload capabilities=ShaderInvocationReorderNV
OpHitObjectRecordHitNV 5261 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:InstanceId IdRef:PrimitiveId IdRef:GeometryIndex IdRef:HitKind IdRef:SBTRecordOffset IdRef:SBTRecordStride IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax IdRef:HitObjectAttributes capabilities=ShaderInvocationReorderNV
OpHitObjectRecordHitWithIndexNV 5262 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:InstanceId IdRef:PrimitiveId IdRef:GeometryIndex IdRef:HitKind IdRef:SBTRecordIndex IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax IdRef:HitObjectAttributes capabilities=ShaderInvocationReorderNV
OpHitObjectRecordMissNV 5263 Reserved None IdRef:HitObject IdRef:SBTIndex IdRef:Origin IdRef:TMin IdRef:Direction IdRef:TMax capabilities=ShaderInvocationReorderNV
OpHitObjectExecuteShaderNV 5264 Reserved None IdRef:HitObject IdRef:Payload capabilities=ShaderInvocationReorderNV
OpHitObjectGetCurrentTimeNV 5265 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetAttributesNV 5266 Reserved None IdRef:HitObject IdRef:HitObjectAttribute capabilities=ShaderInvocationReorderNV
OpHitObjectGetHitKindNV 5267 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetPrimitiveIndexNV 5268 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetGeometryIndexNV 5269 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetInstanceIdNV 5270 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetInstanceCustomIndexNV 5271 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetWorldRayDirectionNV 5272 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetWorldRayOriginNV 5273 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetRayTMaxNV 5274 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectGetRayTMinNV 5275 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectIsEmptyNV 5276 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectIsHitNV 5277 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpHitObjectIsMissNV 5278 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderNV
OpReorderThreadWithHitObjectNV 5279 Reserved None IdRef:HitObject IdRef?:Hint IdRef?:Bits capabilities=ShaderInvocationReorderNV
OpReorderThreadWithHintNV 5280 Reserved None IdRef:Hint IdRef:Bits capabilities=ShaderInvocationReorderNV
OpTypeHitObjectNV 5281 Type-Declaration None IdResult capabilities=ShaderInvocationReorderNV
OpImageSampleFootprintNV 5283 Image None IdResultType IdResult IdRef:SampledImage IdRef:Coordinate IdRef:Granularity IdRef:Coarse ImageOperands? capabilities=ImageFootprintNV extensions=SPV_NV_shader_image_footprint
OpTypeCooperativeVectorNV 5288 Type-Declaration None IdResult IdRef:ComponentType IdRef:ComponentCount capabilities=CooperativeVectorNV
OpCooperativeVectorMatrixMulNV 5289 Reserved None IdResultType IdResult IdRef:Input IdRef:InputInterpretation IdRef:Matrix IdRef:MatrixOffset IdRef:MatrixInterpretation IdRef:M IdRef:K IdRef:MemoryLayout IdRef:Transpose IdRef?:MatrixStride CooperativeMatrixOperands? capabilities=CooperativeVectorNV
OpCooperativeVectorOuterProductAccumulateNV 5290 Reserved None IdRef:Pointer IdRef:Offset IdRef:A IdRef:B IdRef:MemoryLayout IdRef:MatrixInterpretation IdRef?:MatrixStride capabilities=CooperativeVectorTrainingNV
OpCooperativeVectorReduceSumAccumulateNV 5291 Reserved None IdRef:Pointer IdRef:Offset IdRef:V capabilities=CooperativeVectorTrainingNV
OpCooperativeVectorMatrixMulAddNV 5292 Reserved None IdResultType IdResult IdRef:Input IdRef:InputInterpretation IdRef:Matrix IdRef:MatrixOffset IdRef:MatrixInterpretation IdRef:Bias IdRef:BiasOffset IdRef:BiasInterpretation IdRef:M IdRef:K IdRef:MemoryLayout IdRef:Transpose IdRef?:MatrixStride CooperativeMatrixOperands? capabilities=CooperativeVectorNV
OpCooperativeMatrixConvertNV 5293 Conversion None IdResultType IdResult IdRef:Matrix capabilities=CooperativeMatrixConversionsNV
OpEmitMeshTasksEXT 5294 Reserved None IdRef:GroupCountX IdRef:GroupCountY IdRef:GroupCountZ IdRef?:Payload capabilities=MeshShadingEXT
OpSetMeshOutputsEXT 5295 Reserved None IdRef:VertexCount IdRef:PrimitiveCount capabilities=MeshShadingEXT
OpGroupNonUniformPartitionNV 5296 Non-Uniform None IdResultType IdResult IdRef:Value capabilities=GroupNonUniformPartitionedNV extensions=SPV_NV_shader_subgroup_partitioned
OpWritePackedPrimitiveIndices4x8NV 5299 Reserved None IdRef:IndexOffset IdRef:PackedIndices capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
OpFetchMicroTriangleVertexPositionNV 5300 Reserved None IdResultType IdResult IdRef:Accel IdRef:InstanceId IdRef:GeometryIndex IdRef:PrimitiveIndex IdRef:Barycentric capabilities=DisplacementMicromapNV
OpFetchMicroTriangleVertexBarycentricNV 5301 Reserved None IdResultType IdResult IdRef:Accel IdRef:InstanceId IdRef:GeometryIndex IdRef:PrimitiveIndex IdRef:Barycentric capabilities=DisplacementMicromapNV
OpCooperativeVectorLoadNV 5302 Memory None IdResultType IdResult IdRef:Pointer IdRef:Offset MemoryAccess? capabilities=CooperativeVectorNV
OpCooperativeVectorStoreNV 5303 Memory None IdRef:Pointer IdRef:Offset IdRef:Object MemoryAccess? capabilities=CooperativeVectorNV
OpHitObjectRecordFromQueryEXT 5304 Reserved None IdRef:HitObject IdRef:RayQuery IdRef:SBTRecordIndex IdRef:HitObjectAttributes capabilities=ShaderInvocationReorderEXT
OpHitObjectRecordMissEXT 5305 Reserved None IdRef:HitObject IdRef:RayFlags IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax capabilities=ShaderInvocationReorderEXT
OpHitObjectRecordMissMotionEXT 5306 Reserved None IdRef:HitObject IdRef:RayFlags IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:CurrentTime capabilities=ShaderInvocationReorderEXT|RayTracingMotionBlurNV
OpHitObjectGetIntersectionTriangleVertexPositionsEXT 5307 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetRayFlagsEXT 5308 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectSetShaderBindingTableRecordIndexEXT 5309 Reserved None IdRef:HitObject IdRef:SBTRecordIndex capabilities=ShaderInvocationReorderEXT
OpHitObjectReorderExecuteShaderEXT 5310 Reserved None IdRef:HitObject IdRef:Payload IdRef?:Hint IdRef?:Bits capabilities=ShaderInvocationReorderEXT
OpHitObjectTraceReorderExecuteEXT 5311 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:Payload IdRef?:Hint IdRef?:Bits capabilities=ShaderInvocationReorderEXT
OpHitObjectTraceMotionReorderExecuteEXT 5312 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:CurrentTime IdRef:Payload IdRef?:Hint IdRef?:Bits capabilities=ShaderInvocationReorderEXT|RayTracingMotionBlurNV
OpTypeHitObjectEXT 5313 Type-Declaration None IdResult capabilities=ShaderInvocationReorderEXT
OpReorderThreadWithHintEXT 5314 Reserved None IdRef:Hint IdRef:Bits capabilities=ShaderInvocationReorderEXT
OpReorderThreadWithHitObjectEXT 5315 Reserved None IdRef:HitObject IdRef?:Hint IdRef?:Bits capabilities=ShaderInvocationReorderEXT
OpHitObjectTraceRayEXT 5316 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:Payload capabilities=ShaderInvocationReorderEXT
OpHitObjectTraceRayMotionEXT 5317 Reserved None IdRef:HitObject IdRef:AccelerationStructure IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:CurrentTime IdRef:Payload capabilities=ShaderInvocationReorderEXT|RayTracingMotionBlurNV
OpHitObjectRecordEmptyEXT 5318 Reserved None IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectExecuteShaderEXT 5319 Reserved None IdRef:HitObject IdRef:Payload capabilities=ShaderInvocationReorderEXT
OpHitObjectGetCurrentTimeEXT 5320 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT|RayTracingMotionBlurNV
OpHitObjectGetAttributesEXT 5321 Reserved None IdRef:HitObject IdRef:HitObjectAttribute capabilities=ShaderInvocationReorderEXT
OpHitObjectGetHitKindEXT 5322 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetPrimitiveIndexEXT 5323 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetGeometryIndexEXT 5324 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetInstanceIdEXT 5325 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetInstanceCustomIndexEXT 5326 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetObjectRayOriginEXT 5327 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetObjectRayDirectionEXT 5328 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetWorldRayDirectionEXT 5329 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetWorldRayOriginEXT 5330 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetObjectToWorldEXT 5331 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetWorldToObjectEXT 5332 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetRayTMaxEXT 5333 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpReportIntersectionKHR 5334 Reserved None IdResultType IdResult IdRef:Hit IdRef:HitKind capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
OpReportIntersectionNV = OpReportIntersectionKHR
OpIgnoreIntersectionNV 5335 Reserved None capabilities=RayTracingNV extensions=SPV_NV_ray_tracing
OpTerminateRayNV 5336 Reserved None capabilities=RayTracingNV extensions=SPV_NV_ray_tracing
OpTraceNV 5337 Reserved None IdRef:Accel IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:PayloadId capabilities=RayTracingNV extensions=SPV_NV_ray_tracing
OpTraceMotionNV 5338 Reserved None IdRef:Accel IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:Time IdRef:PayloadId capabilities=RayTracingMotionBlurNV extensions=SPV_NV_ray_tracing_motion_blur
OpTraceRayMotionNV 5339 Reserved None IdRef:Accel IdRef:RayFlags IdRef:CullMask IdRef:SBTOffset IdRef:SBTStride IdRef:MissIndex IdRef:RayOrigin IdRef:RayTmin IdRef:RayDirection IdRef:RayTmax IdRef:Time IdRef:Payload capabilities=RayTracingMotionBlurNV extensions=SPV_NV_ray_tracing_motion_blur
OpRayQueryGetIntersectionTriangleVertexPositionsKHR 5340 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryPositionFetchKHR
OpTypeAccelerationStructureKHR 5341 Type-Declaration None IdResult capabilities=RayTracingNV|RayTracingKHR|RayQueryKHR|DisplacementMicromapNV extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing|SPV_KHR_ray_query|SPV_NV_displacement_micromap
OpTypeAccelerationStructureNV = OpTypeAccelerationStructureKHR
OpExecuteCallableNV 5344 Reserved None IdRef:SBTIndex IdRef:CallableDataId capabilities=RayTracingNV extensions=SPV_NV_ray_tracing
OpRayQueryGetIntersectionClusterIdNV 5345 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingClusterAccelerationStructureNV
OpRayQueryGetClusterIdNV = OpRayQueryGetIntersectionClusterIdNV
OpHitObjectGetClusterIdNV 5346 Reserved None IdResultType IdResult IdRef:HitObject capabilities=RayTracingClusterAccelerationStructureNV
OpHitObjectGetRayTMinEXT 5347 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetShaderBindingTableRecordIndexEXT 5348 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectGetShaderRecordBufferHandleEXT 5349 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectIsEmptyEXT 5350 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectIsHitEXT 5351 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpHitObjectIsMissEXT 5352 Reserved None IdResultType IdResult IdRef:HitObject capabilities=ShaderInvocationReorderEXT
OpTypeCooperativeMatrixNV 5358 Type-Declaration None IdResult IdRef:ComponentType IdScope:Execution IdRef:Rows IdRef:Columns capabilities=CooperativeMatrixNV extensions=SPV_NV_cooperative_matrix
OpCooperativeMatrixLoadNV 5359 Reserved None IdResultType IdResult IdRef:Pointer IdRef:Stride IdRef:ColumnMajor MemoryAccess? capabilities=CooperativeMatrixNV extensions=SPV_NV_cooperative_matrix
OpCooperativeMatrixStoreNV 5360 Reserved None IdRef:Pointer IdRef:Object IdRef:Stride IdRef:ColumnMajor MemoryAccess? capabilities=CooperativeMatrixNV extensions=SPV_NV_cooperative_matrix
OpCooperativeMatrixMulAddNV 5361 Reserved None IdResultType IdResult IdRef:A IdRef:B IdRef:C capabilities=CooperativeMatrixNV extensions=SPV_NV_cooperative_matrix
OpCooperativeMatrixLengthNV 5362 Reserved None IdResultType IdResult IdRef:Type capabilities=CooperativeMatrixNV extensions=SPV_NV_cooperative_matrix
OpBeginInvocationInterlockEXT 5364 Reserved None capabilities=FragmentShaderSampleInterlockEXT|FragmentShaderPixelInterlockEXT|FragmentShaderShadingRateInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
OpEndInvocationInterlockEXT 5365 Reserved None capabilities=FragmentShaderSampleInterlockEXT|FragmentShaderPixelInterlockEXT|FragmentShaderShadingRateInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
OpCooperativeMatrixReduceNV 5366 Arithmetic None IdResultType IdResult IdRef:Matrix CooperativeMatrixReduce:Reduce IdRef:CombineFunc capabilities=CooperativeMatrixReductionsNV
OpCooperativeMatrixLoadTensorNV 5367 Memory None IdResultType IdResult IdRef:Pointer IdRef:Object IdRef:TensorLayout MemoryAccess:MemoryOperand TensorAddressingOperands capabilities=CooperativeMatrixTensorAddressingNV
OpCooperativeMatrixStoreTensorNV 5368 Memory None IdRef:Pointer IdRef:Object IdRef:TensorLayout MemoryAccess:MemoryOperand TensorAddressingOperands capabilities=CooperativeMatrixTensorAddressingNV
OpCooperativeMatrixPerElementOpNV 5369 Function None IdResultType IdResult IdRef:Matrix IdRef:Func IdRef*:Operands capabilities=CooperativeMatrixPerElementOperationsNV
OpTypeTensorLayoutNV 5370 Type-Declaration None IdResult IdRef:Dim IdRef:ClampMode capabilities=TensorAddressingNV
OpTypeTensorViewNV 5371 Type-Declaration None IdResult IdRef:Dim IdRef:HasDimensions IdRef*:P capabilities=TensorAddressingNV
OpCreateTensorLayoutNV 5372 Reserved None IdResultType IdResult capabilities=TensorAddressingNV
OpTensorLayoutSetDimensionNV 5373 Reserved None IdResultType IdResult IdRef:TensorLayout IdRef*:Dim capabilities=TensorAddressingNV
OpTensorLayoutSetStrideNV 5374 Reserved None IdResultType IdResult IdRef:TensorLayout IdRef*:Stride capabilities=TensorAddressingNV
OpTensorLayoutSliceNV 5375 Reserved None IdResultType IdResult IdRef:TensorLayout IdRef*:Operands capabilities=TensorAddressingNV
OpTensorLayoutSetClampValueNV 5376 Reserved None IdResultType IdResult IdRef:TensorLayout IdRef:Value capabilities=TensorAddressingNV
OpCreateTensorViewNV 5377 Reserved None IdResultType IdResult capabilities=TensorAddressingNV
OpTensorViewSetDimensionNV 5378 Reserved None IdResultType IdResult IdRef:TensorView IdRef*:Dim capabilities=TensorAddressingNV
OpTensorViewSetStrideNV 5379 Reserved None IdResultType IdResult IdRef:TensorView IdRef*:Stride capabilities=TensorAddressingNV
OpDemoteToHelperInvocation 5380 Control-Flow 1.6 capabilities=DemoteToHelperInvocation
OpDemoteToHelperInvocationEXT = OpDemoteToHelperInvocation
OpIsHelperInvocationEXT 5381 Reserved None IdResultType IdResult capabilities=DemoteToHelperInvocation extensions=SPV_EXT_demote_to_helper_invocation
OpTensorViewSetClipNV 5382 Reserved None IdResultType IdResult IdRef:TensorView IdRef:ClipRowOffset IdRef:ClipRowSpan IdRef:ClipColOffset IdRef:ClipColSpan capabilities=TensorAddressingNV
OpTensorLayoutSetBlockSizeNV 5384 Reserved None IdResultType IdResult IdRef:TensorLayout IdRef*:BlockSize capabilities=TensorAddressingNV
OpCooperativeMatrixTransposeNV 5390 Conversion None IdResultType IdResult IdRef:Matrix capabilities=CooperativeMatrixConversionsNV
OpConvertUToImageNV 5391 Reserved None IdResultType IdResult IdRef:Operand capabilities=BindlessTextureNV
OpConvertUToSamplerNV 5392 Reserved None IdResultType IdResult IdRef:Operand capabilities=BindlessTextureNV
OpConvertImageToUNV 5393 Reserved None IdResultType IdResult IdRef:Operand capabilities=BindlessTextureNV
OpConvertSamplerToUNV 5394 Reserved None IdResultType IdResult IdRef:Operand capabilities=BindlessTextureNV
OpConvertUToSampledImageNV 5395 Reserved None IdResultType IdResult IdRef:Operand capabilities=BindlessTextureNV
OpConvertSampledImageToUNV 5396 Reserved None IdResultType IdResult IdRef:Operand capabilities=BindlessTextureNV
OpSamplerImageAddressingModeNV 5397 Reserved None LiteralInteger:BitWidth capabilities=BindlessTextureNV
OpRawAccessChainNV 5398 Memory None IdResultType IdResult IdRef:Base IdRef:ByteStride IdRef:ElementIndex IdRef:ByteOffset RawAccessChainOperands? capabilities=RawAccessChainsNV
OpRayQueryGetIntersectionSpherePositionNV 5427 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingSpheresGeometryNV
OpRayQueryGetIntersectionSphereRadiusNV 5428 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingSpheresGeometryNV
OpRayQueryGetIntersectionLSSPositionsNV 5429 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingLinearSweptSpheresGeometryNV
OpRayQueryGetIntersectionLSSRadiiNV 5430 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingLinearSweptSpheresGeometryNV
OpRayQueryGetIntersectionLSSHitValueNV 5431 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingLinearSweptSpheresGeometryNV
OpHitObjectGetSpherePositionNV 5432 Reserved None IdResultType IdResult IdRef:HitObject capabilities=RayTracingSpheresGeometryNV
OpHitObjectGetSphereRadiusNV 5433 Reserved None IdResultType IdResult IdRef:HitObject capabilities=RayTracingSpheresGeometryNV
OpHitObjectGetLSSPositionsNV 5434 Reserved None IdResultType IdResult IdRef:HitObject capabilities=RayTracingLinearSweptSpheresGeometryNV
OpHitObjectGetLSSRadiiNV 5435 Reserved None IdResultType IdResult IdRef:HitObject capabilities=RayTracingLinearSweptSpheresGeometryNV
OpHitObjectIsSphereHitNV 5436 Reserved None IdResultType IdResult IdRef:HitObject capabilities=RayTracingSpheresGeometryNV
OpHitObjectIsLSSHitNV 5437 Reserved None IdResultType IdResult IdRef:HitObject capabilities=RayTracingLinearSweptSpheresGeometryNV
OpRayQueryIsSphereHitNV 5438 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingSpheresGeometryNV
OpRayQueryIsLSSHitNV 5439 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayTracingLinearSweptSpheresGeometryNV
OpSubgroupShuffleINTEL 5571 Group None IdResultType IdResult IdRef:Data IdRef:InvocationId capabilities=SubgroupShuffleINTEL
OpSubgroupShuffleDownINTEL 5572 Group None IdResultType IdResult IdRef:Current IdRef:Next IdRef:Delta capabilities=SubgroupShuffleINTEL
OpSubgroupShuffleUpINTEL 5573 Group None IdResultType IdResult IdRef:Previous IdRef:Current IdRef:Delta capabilities=SubgroupShuffleINTEL
OpSubgroupShuffleXorINTEL 5574 Group None IdResultType IdResult IdRef:Data IdRef:Value capabilities=SubgroupShuffleINTEL
OpSubgroupBlockReadINTEL 5575 Group None IdResultType IdResult IdRef:Ptr capabilities=SubgroupBufferBlockIOINTEL
OpSubgroupBlockWriteINTEL 5576 Group None IdRef:Ptr IdRef:Data capabilities=SubgroupBufferBlockIOINTEL
OpSubgroupImageBlockReadINTEL 5577 Group None IdResultType IdResult IdRef:Image IdRef:Coordinate capabilities=SubgroupImageBlockIOINTEL
OpSubgroupImageBlockWriteINTEL 5578 Group None IdRef:Image IdRef:Coordinate IdRef:Data capabilities=SubgroupImageBlockIOINTEL
OpSubgroupImageMediaBlockReadINTEL 5580 Group None IdResultType IdResult IdRef:Image IdRef:Coordinate IdRef:Width IdRef:Height capabilities=SubgroupImageMediaBlockIOINTEL
OpSubgroupImageMediaBlockWriteINTEL 5581 Group None IdRef:Image IdRef:Coordinate IdRef:Width IdRef:Height IdRef:Data capabilities=SubgroupImageMediaBlockIOINTEL
OpUCountLeadingZerosINTEL 5585 Reserved None IdResultType IdResult IdRef:Operand capabilities=IntegerFunctions2INTEL
OpUCountTrailingZerosINTEL 5586 Reserved None IdResultType IdResult IdRef:Operand capabilities=IntegerFunctions2INTEL
OpAbsISubINTEL 5587 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpAbsUSubINTEL 5588 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpIAddSatINTEL 5589 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpUAddSatINTEL 5590 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpIAverageINTEL 5591 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpUAverageINTEL 5592 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpIAverageRoundedINTEL 5593 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpUAverageRoundedINTEL 5594 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpISubSatINTEL 5595 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpUSubSatINTEL 5596 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpIMul32x16INTEL 5597 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpUMul32x16INTEL 5598 Reserved None IdResultType IdResult IdRef:Operand IdRef:Operand capabilities=IntegerFunctions2INTEL
OpConstantFunctionPointerINTEL 5600 exclude None IdResultType IdResult IdRef:Function capabilities=FunctionPointersINTEL extensions=SPV_INTEL_function_pointers
OpFunctionPointerCallINTEL 5601 exclude None IdResultType IdResult IdRef*:Operand capabilities=FunctionPointersINTEL extensions=SPV_INTEL_function_pointers
OpAsmTargetINTEL 5609 exclude None IdResult LiteralString:AsmTarget capabilities=AsmINTEL
OpAsmINTEL 5610 exclude None IdResultType IdResult IdRef:AsmType IdRef:Target LiteralString:AsmInstructions LiteralString:Constraints capabilities=AsmINTEL
OpAsmCallINTEL 5611 exclude None IdResultType IdResult IdRef:Asm IdRef*:Argument capabilities=AsmINTEL
OpAtomicFMinEXT 5614 Atomic None IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value capabilities=AtomicFloat16MinMaxEXT|AtomicFloat32MinMaxEXT|AtomicFloat64MinMaxEXT|AtomicFloat16VectorNV
OpAtomicFMaxEXT 5615 Atomic None IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value capabilities=AtomicFloat16MinMaxEXT|AtomicFloat32MinMaxEXT|AtomicFloat64MinMaxEXT|AtomicFloat16VectorNV
OpAssumeTrueKHR 5630 Miscellaneous None IdRef:Condition capabilities=ExpectAssumeKHR extensions=SPV_KHR_expect_assume
OpExpectKHR 5631 Miscellaneous None IdResultType IdResult IdRef:Value IdRef:ExpectedValue capabilities=ExpectAssumeKHR extensions=SPV_KHR_expect_assume
OpDecorateString 5632 Annotation 1.4 IdRef:Target Decoration extensions=SPV_GOOGLE_decorate_string|SPV_GOOGLE_hlsl_functionality1
OpDecorateStringGOOGLE = OpDecorateString
OpMemberDecorateString 5633 Annotation 1.4 IdRef:StructType LiteralInteger:Member Decoration extensions=SPV_GOOGLE_decorate_string|SPV_GOOGLE_hlsl_functionality1
OpMemberDecorateStringGOOGLE = OpMemberDecorateString
OpVmeImageINTEL 5699 exclude None IdResultType IdResult IdRef:ImageType IdRef:Sampler capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeVmeImageINTEL 5700 exclude None IdResult IdRef:ImageType capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcImePayloadINTEL 5701 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcRefPayloadINTEL 5702 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcSicPayloadINTEL 5703 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcMcePayloadINTEL 5704 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcMceResultINTEL 5705 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcImeResultINTEL 5706 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcImeResultSingleReferenceStreamoutINTEL 5707 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcImeResultDualReferenceStreamoutINTEL 5708 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcImeSingleReferenceStreaminINTEL 5709 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcImeDualReferenceStreaminINTEL 5710 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcRefResultINTEL 5711 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpTypeAvcSicResultINTEL 5712 exclude None IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultInterBaseMultiReferencePenaltyINTEL 5713 exclude None IdResultType IdResult IdRef:SliceType IdRef:Qp capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceSetInterBaseMultiReferencePenaltyINTEL 5714 exclude None IdResultType IdResult IdRef:ReferenceBasePenalty IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultInterShapePenaltyINTEL 5715 exclude None IdResultType IdResult IdRef:SliceType IdRef:Qp capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceSetInterShapePenaltyINTEL 5716 exclude None IdResultType IdResult IdRef:PackedShapePenalty IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultInterDirectionPenaltyINTEL 5717 exclude None IdResultType IdResult IdRef:SliceType IdRef:Qp capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceSetInterDirectionPenaltyINTEL 5718 exclude None IdResultType IdResult IdRef:DirectionCost IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultIntraLumaShapePenaltyINTEL 5719 exclude None IdResultType IdResult IdRef:SliceType IdRef:Qp capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcMceGetDefaultInterMotionVectorCostTableINTEL 5720 exclude None IdResultType IdResult IdRef:SliceType IdRef:Qp capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultHighPenaltyCostTableINTEL 5721 exclude None IdResultType IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultMediumPenaltyCostTableINTEL 5722 exclude None IdResultType IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultLowPenaltyCostTableINTEL 5723 exclude None IdResultType IdResult capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceSetMotionVectorCostFunctionINTEL 5724 exclude None IdResultType IdResult IdRef:PackedCostCenterDelta IdRef:PackedCostTable IdRef:CostPrecision IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetDefaultIntraLumaModePenaltyINTEL 5725 exclude None IdResultType IdResult IdRef:SliceType IdRef:Qp capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcMceGetDefaultNonDcLumaIntraPenaltyINTEL 5726 exclude None IdResultType IdResult capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcMceGetDefaultIntraChromaModeBasePenaltyINTEL 5727 exclude None IdResultType IdResult capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationChromaINTEL
OpSubgroupAvcMceSetAcOnlyHaarINTEL 5728 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceSetSourceInterlacedFieldPolarityINTEL 5729 exclude None IdResultType IdResult IdRef:SourceFieldPolarity IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceSetSingleReferenceInterlacedFieldPolarityINTEL 5730 exclude None IdResultType IdResult IdRef:ReferenceFieldPolarity IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceSetDualReferenceInterlacedFieldPolaritiesINTEL 5731 exclude None IdResultType IdResult IdRef:ForwardReferenceFieldPolarity IdRef:BackwardReferenceFieldPolarity IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceConvertToImePayloadINTEL 5732 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceConvertToImeResultINTEL 5733 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceConvertToRefPayloadINTEL 5734 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceConvertToRefResultINTEL 5735 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceConvertToSicPayloadINTEL 5736 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceConvertToSicResultINTEL 5737 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetMotionVectorsINTEL 5738 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetInterDistortionsINTEL 5739 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetBestInterDistortionsINTEL 5740 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetInterMajorShapeINTEL 5741 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetInterMinorShapeINTEL 5742 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetInterDirectionsINTEL 5743 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetInterMotionVectorCountINTEL 5744 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetInterReferenceIdsINTEL 5745 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcMceGetInterReferenceInterlacedFieldPolaritiesINTEL 5746 exclude None IdResultType IdResult IdRef:PackedReferenceIds IdRef:PackedReferenceParameterFieldPolarities IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeInitializeINTEL 5747 exclude None IdResultType IdResult IdRef:SrcCoord IdRef:PartitionMask IdRef:SADAdjustment capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeSetSingleReferenceINTEL 5748 exclude None IdResultType IdResult IdRef:RefOffset IdRef:SearchWindowConfig IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeSetDualReferenceINTEL 5749 exclude None IdResultType IdResult IdRef:FwdRefOffset IdRef:BwdRefOffset IdRef:SearchWindowConfig IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeRefWindowSizeINTEL 5750 exclude None IdResultType IdResult IdRef:SearchWindowConfig IdRef:DualRef capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeAdjustRefOffsetINTEL 5751 exclude None IdResultType IdResult IdRef:RefOffset IdRef:SrcCoord IdRef:RefWindowSize IdRef:ImageSize capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeConvertToMcePayloadINTEL 5752 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeSetMaxMotionVectorCountINTEL 5753 exclude None IdResultType IdResult IdRef:MaxMotionVectorCount IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeSetUnidirectionalMixDisableINTEL 5754 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeSetEarlySearchTerminationThresholdINTEL 5755 exclude None IdResultType IdResult IdRef:Threshold IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeSetWeightedSadINTEL 5756 exclude None IdResultType IdResult IdRef:PackedSadWeights IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithSingleReferenceINTEL 5757 exclude None IdResultType IdResult IdRef:SrcImage IdRef:RefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithDualReferenceINTEL 5758 exclude None IdResultType IdResult IdRef:SrcImage IdRef:FwdRefImage IdRef:BwdRefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithSingleReferenceStreaminINTEL 5759 exclude None IdResultType IdResult IdRef:SrcImage IdRef:RefImage IdRef:Payload IdRef:StreaminComponents capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithDualReferenceStreaminINTEL 5760 exclude None IdResultType IdResult IdRef:SrcImage IdRef:FwdRefImage IdRef:BwdRefImage IdRef:Payload IdRef:StreaminComponents capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithSingleReferenceStreamoutINTEL 5761 exclude None IdResultType IdResult IdRef:SrcImage IdRef:RefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithDualReferenceStreamoutINTEL 5762 exclude None IdResultType IdResult IdRef:SrcImage IdRef:FwdRefImage IdRef:BwdRefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithSingleReferenceStreaminoutINTEL 5763 exclude None IdResultType IdResult IdRef:SrcImage IdRef:RefImage IdRef:Payload IdRef:StreaminComponents capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeEvaluateWithDualReferenceStreaminoutINTEL 5764 exclude None IdResultType IdResult IdRef:SrcImage IdRef:FwdRefImage IdRef:BwdRefImage IdRef:Payload IdRef:StreaminComponents capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeConvertToMceResultINTEL 5765 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetSingleReferenceStreaminINTEL 5766 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetDualReferenceStreaminINTEL 5767 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeStripSingleReferenceStreamoutINTEL 5768 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeStripDualReferenceStreamoutINTEL 5769 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetStreamoutSingleReferenceMajorShapeMotionVectorsINTEL 5770 exclude None IdResultType IdResult IdRef:Payload IdRef:MajorShape capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetStreamoutSingleReferenceMajorShapeDistortionsINTEL 5771 exclude None IdResultType IdResult IdRef:Payload IdRef:MajorShape capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetStreamoutSingleReferenceMajorShapeReferenceIdsINTEL 5772 exclude None IdResultType IdResult IdRef:Payload IdRef:MajorShape capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetStreamoutDualReferenceMajorShapeMotionVectorsINTEL 5773 exclude None IdResultType IdResult IdRef:Payload IdRef:MajorShape IdRef:Direction capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetStreamoutDualReferenceMajorShapeDistortionsINTEL 5774 exclude None IdResultType IdResult IdRef:Payload IdRef:MajorShape IdRef:Direction capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetStreamoutDualReferenceMajorShapeReferenceIdsINTEL 5775 exclude None IdResultType IdResult IdRef:Payload IdRef:MajorShape IdRef:Direction capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetBorderReachedINTEL 5776 exclude None IdResultType IdResult IdRef:ImageSelect IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetTruncatedSearchIndicationINTEL 5777 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetUnidirectionalEarlySearchTerminationINTEL 5778 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetWeightingPatternMinimumMotionVectorINTEL 5779 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcImeGetWeightingPatternMinimumDistortionINTEL 5780 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcFmeInitializeINTEL 5781 exclude None IdResultType IdResult IdRef:SrcCoord IdRef:MotionVectors IdRef:MajorShapes IdRef:MinorShapes IdRef:Direction IdRef:PixelResolution IdRef:SadAdjustment capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcBmeInitializeINTEL 5782 exclude None IdResultType IdResult IdRef:SrcCoord IdRef:MotionVectors IdRef:MajorShapes IdRef:MinorShapes IdRef:Direction IdRef:PixelResolution IdRef:BidirectionalWeight IdRef:SadAdjustment capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefConvertToMcePayloadINTEL 5783 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefSetBidirectionalMixDisableINTEL 5784 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefSetBilinearFilterEnableINTEL 5785 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefEvaluateWithSingleReferenceINTEL 5786 exclude None IdResultType IdResult IdRef:SrcImage IdRef:RefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefEvaluateWithDualReferenceINTEL 5787 exclude None IdResultType IdResult IdRef:SrcImage IdRef:FwdRefImage IdRef:BwdRefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefEvaluateWithMultiReferenceINTEL 5788 exclude None IdResultType IdResult IdRef:SrcImage IdRef:PackedReferenceIds IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefEvaluateWithMultiReferenceInterlacedINTEL 5789 exclude None IdResultType IdResult IdRef:SrcImage IdRef:PackedReferenceIds IdRef:PackedReferenceFieldPolarities IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcRefConvertToMceResultINTEL 5790 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicInitializeINTEL 5791 exclude None IdResultType IdResult IdRef:SrcCoord capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicConfigureSkcINTEL 5792 exclude None IdResultType IdResult IdRef:SkipBlockPartitionType IdRef:SkipMotionVectorMask IdRef:MotionVectors IdRef:BidirectionalWeight IdRef:SadAdjustment IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicConfigureIpeLumaINTEL 5793 exclude None IdResultType IdResult IdRef:LumaIntraPartitionMask IdRef:IntraNeighbourAvailabilty IdRef:LeftEdgeLumaPixels IdRef:UpperLeftCornerLumaPixel IdRef:UpperEdgeLumaPixels IdRef:UpperRightEdgeLumaPixels IdRef:SadAdjustment IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicConfigureIpeLumaChromaINTEL 5794 exclude None IdResultType IdResult IdRef:LumaIntraPartitionMask IdRef:IntraNeighbourAvailabilty IdRef:LeftEdgeLumaPixels IdRef:UpperLeftCornerLumaPixel IdRef:UpperEdgeLumaPixels IdRef:UpperRightEdgeLumaPixels IdRef:LeftEdgeChromaPixels IdRef:UpperLeftCornerChromaPixel IdRef:UpperEdgeChromaPixels IdRef:SadAdjustment IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationChromaINTEL
OpSubgroupAvcSicGetMotionVectorMaskINTEL 5795 exclude None IdResultType IdResult IdRef:SkipBlockPartitionType IdRef:Direction capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicConvertToMcePayloadINTEL 5796 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicSetIntraLumaShapePenaltyINTEL 5797 exclude None IdResultType IdResult IdRef:PackedShapePenalty IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicSetIntraLumaModeCostFunctionINTEL 5798 exclude None IdResultType IdResult IdRef:LumaModePenalty IdRef:LumaPackedNeighborModes IdRef:LumaPackedNonDcPenalty IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicSetIntraChromaModeCostFunctionINTEL 5799 exclude None IdResultType IdResult IdRef:ChromaModeBasePenalty IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationChromaINTEL
OpSubgroupAvcSicSetBilinearFilterEnableINTEL 5800 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicSetSkcForwardTransformEnableINTEL 5801 exclude None IdResultType IdResult IdRef:PackedSadCoefficients IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicSetBlockBasedRawSkipSadINTEL 5802 exclude None IdResultType IdResult IdRef:BlockBasedSkipType IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicEvaluateIpeINTEL 5803 exclude None IdResultType IdResult IdRef:SrcImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicEvaluateWithSingleReferenceINTEL 5804 exclude None IdResultType IdResult IdRef:SrcImage IdRef:RefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicEvaluateWithDualReferenceINTEL 5805 exclude None IdResultType IdResult IdRef:SrcImage IdRef:FwdRefImage IdRef:BwdRefImage IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicEvaluateWithMultiReferenceINTEL 5806 exclude None IdResultType IdResult IdRef:SrcImage IdRef:PackedReferenceIds IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicEvaluateWithMultiReferenceInterlacedINTEL 5807 exclude None IdResultType IdResult IdRef:SrcImage IdRef:PackedReferenceIds IdRef:PackedReferenceFieldPolarities IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicConvertToMceResultINTEL 5808 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicGetIpeLumaShapeINTEL 5809 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicGetBestIpeLumaDistortionINTEL 5810 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicGetBestIpeChromaDistortionINTEL 5811 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpSubgroupAvcSicGetPackedIpeLumaModesINTEL 5812 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicGetIpeChromaModeINTEL 5813 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationChromaINTEL
OpSubgroupAvcSicGetPackedSkcLumaCountThresholdINTEL 5814 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicGetPackedSkcLumaSumThresholdINTEL 5815 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL|SubgroupAvcMotionEstimationIntraINTEL
OpSubgroupAvcSicGetInterRawSadsINTEL 5816 exclude None IdResultType IdResult IdRef:Payload capabilities=SubgroupAvcMotionEstimationINTEL
OpVariableLengthArrayINTEL 5818 Memory None IdResultType IdResult IdRef:Length capabilities=VariableLengthArrayINTEL
OpSaveMemoryINTEL 5819 Memory None IdResultType IdResult capabilities=VariableLengthArrayINTEL
OpRestoreMemoryINTEL 5820 Memory None IdRef:Ptr capabilities=VariableLengthArrayINTEL
OpArbitraryFloatSinCosPiALTERA 5840 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:MResult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:RoundingAccuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatSinCosPiINTEL = OpArbitraryFloatSinCosPiALTERA
OpArbitraryFloatCastALTERA 5841 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatCastINTEL = OpArbitraryFloatCastALTERA
OpArbitraryFloatCastFromIntALTERA 5842 exclude None IdResultType IdResult IdRef:A LiteralInteger:Mresult LiteralInteger:FromSign LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatCastFromIntINTEL = OpArbitraryFloatCastFromIntALTERA
OpArbitraryFloatCastToIntALTERA 5843 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:ToSign LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatCastToIntINTEL = OpArbitraryFloatCastToIntALTERA
OpArbitraryFloatAddALTERA 5846 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:MResult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatAddINTEL = OpArbitraryFloatAddALTERA
OpArbitraryFloatSubALTERA 5847 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatSubINTEL = OpArbitraryFloatSubALTERA
OpArbitraryFloatMulALTERA 5848 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatMulINTEL = OpArbitraryFloatMulALTERA
OpArbitraryFloatDivALTERA 5849 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatDivINTEL = OpArbitraryFloatDivALTERA
OpArbitraryFloatGTALTERA 5850 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatGTINTEL = OpArbitraryFloatGTALTERA
OpArbitraryFloatGEALTERA 5851 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatGEINTEL = OpArbitraryFloatGEALTERA
OpArbitraryFloatLTALTERA 5852 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatLTINTEL = OpArbitraryFloatLTALTERA
OpArbitraryFloatLEALTERA 5853 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatLEINTEL = OpArbitraryFloatLEALTERA
OpArbitraryFloatEQALTERA 5854 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatEQINTEL = OpArbitraryFloatEQALTERA
OpArbitraryFloatRecipALTERA 5855 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatRecipINTEL = OpArbitraryFloatRecipALTERA
OpArbitraryFloatRSqrtALTERA 5856 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatRSqrtINTEL = OpArbitraryFloatRSqrtALTERA
OpArbitraryFloatCbrtALTERA 5857 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatCbrtINTEL = OpArbitraryFloatCbrtALTERA
OpArbitraryFloatHypotALTERA 5858 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatHypotINTEL = OpArbitraryFloatHypotALTERA
OpArbitraryFloatSqrtALTERA 5859 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatSqrtINTEL = OpArbitraryFloatSqrtALTERA
OpArbitraryFloatLogINTEL 5860 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatLog2INTEL 5861 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatLog10INTEL 5862 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatLog1pINTEL 5863 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatExpINTEL 5864 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatExp2INTEL 5865 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatExp10INTEL 5866 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatExpm1INTEL 5867 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatSinINTEL 5868 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatCosINTEL 5869 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatSinCosINTEL 5870 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatSinPiINTEL 5871 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatCosPiINTEL 5872 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatASinINTEL 5873 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatASinPiINTEL 5874 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatACosINTEL 5875 exclude None IdResultType IdResult IdRef:A LiteralInteger:M1 LiteralInteger:Mout LiteralInteger:EnableSubnormals LiteralInteger:RoundingMode LiteralInteger:RoundingAccuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatACosPiINTEL 5876 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatATanINTEL 5877 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatATanPiINTEL 5878 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatATan2INTEL 5879 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatPowINTEL 5880 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatPowRINTEL 5881 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:Mb LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpArbitraryFloatPowNINTEL 5882 exclude None IdResultType IdResult IdRef:A LiteralInteger:Ma IdRef:B LiteralInteger:SignOfB LiteralInteger:Mresult LiteralInteger:Subnormal LiteralInteger:Rounding LiteralInteger:Accuracy capabilities=ArbitraryPrecisionFloatingPointALTERA
OpLoopControlINTEL 5887 Reserved None LiteralInteger*:LoopControlParameters capabilities=UnstructuredLoopControlsINTEL extensions=SPV_INTEL_unstructured_loop_controls
OpAliasDomainDeclINTEL 5911 exclude None IdResult IdRef?:Name capabilities=MemoryAccessAliasingINTEL extensions=SPV_INTEL_memory_access_aliasing
OpAliasScopeDeclINTEL 5912 exclude None IdResult IdRef:AliasDomain IdRef?:Name capabilities=MemoryAccessAliasingINTEL extensions=SPV_INTEL_memory_access_aliasing
OpAliasScopeListDeclINTEL 5913 exclude None IdResult IdRef*:AliasScope capabilities=MemoryAccessAliasingINTEL extensions=SPV_INTEL_memory_access_aliasing
OpFixedSqrtALTERA 5923 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedSqrtINTEL = OpFixedSqrtALTERA
OpFixedRecipALTERA 5924 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedRecipINTEL = OpFixedRecipALTERA
OpFixedRsqrtALTERA 5925 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedRsqrtINTEL = OpFixedRsqrtALTERA
OpFixedSinALTERA 5926 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedSinINTEL = OpFixedSinALTERA
OpFixedCosALTERA 5927 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedCosINTEL = OpFixedCosALTERA
OpFixedSinCosALTERA 5928 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedSinCosINTEL = OpFixedSinCosALTERA
OpFixedSinPiALTERA 5929 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedSinPiINTEL = OpFixedSinPiALTERA
OpFixedCosPiALTERA 5930 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedCosPiINTEL = OpFixedCosPiALTERA
OpFixedSinCosPiALTERA 5931 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedSinCosPiINTEL = OpFixedSinCosPiALTERA
OpFixedLogALTERA 5932 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedLogINTEL = OpFixedLogALTERA
OpFixedExpALTERA 5933 exclude None IdResultType IdResult IdRef:Input LiteralInteger:S LiteralInteger:I LiteralInteger:RI LiteralInteger:Q LiteralInteger:O capabilities=ArbitraryPrecisionFixedPointALTERA
OpFixedExpINTEL = OpFixedExpALTERA
OpPtrCastToCrossWorkgroupALTERA 5934 exclude None IdResultType IdResult IdRef:Pointer capabilities=USMStorageClassesALTERA
OpPtrCastToCrossWorkgroupINTEL = OpPtrCastToCrossWorkgroupALTERA
OpCrossWorkgroupCastToPtrALTERA 5938 exclude None IdResultType IdResult IdRef:Pointer capabilities=USMStorageClassesALTERA
OpCrossWorkgroupCastToPtrINTEL = OpCrossWorkgroupCastToPtrALTERA
OpReadPipeBlockingALTERA 5946 exclude None IdResultType IdResult IdRef:PacketSize IdRef:PacketAlignment capabilities=BlockingPipesALTERA
OpReadPipeBlockingINTEL = OpReadPipeBlockingALTERA
OpWritePipeBlockingALTERA 5947 exclude None IdResultType IdResult IdRef:PacketSize IdRef:PacketAlignment capabilities=BlockingPipesALTERA
OpWritePipeBlockingINTEL = OpWritePipeBlockingALTERA
OpFPGARegALTERA 5949 exclude None IdResultType IdResult IdRef:Input capabilities=FPGARegALTERA
OpFPGARegINTEL = OpFPGARegALTERA
OpRayQueryGetRayTMinKHR 6016 Reserved None IdResultType IdResult IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetRayFlagsKHR 6017 Reserved None IdResultType IdResult IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionTKHR 6018 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionInstanceCustomIndexKHR 6019 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionInstanceIdKHR 6020 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR 6021 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionGeometryIndexKHR 6022 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionPrimitiveIndexKHR 6023 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionBarycentricsKHR 6024 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionFrontFaceKHR 6025 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionCandidateAABBOpaqueKHR 6026 Reserved None IdResultType IdResult IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionObjectRayDirectionKHR 6027 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionObjectRayOriginKHR 6028 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetWorldRayDirectionKHR 6029 Reserved None IdResultType IdResult IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetWorldRayOriginKHR 6030 Reserved None IdResultType IdResult IdRef:RayQuery capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionObjectToWorldKHR 6031 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpRayQueryGetIntersectionWorldToObjectKHR 6032 Reserved None IdResultType IdResult IdRef:RayQuery IdRef:Intersection capabilities=RayQueryKHR extensions=SPV_KHR_ray_query
OpAtomicFAddEXT 6035 Atomic None IdResultType IdResult IdRef:Pointer IdScope:Memory IdMemorySemantics:Semantics IdRef:Value capabilities=AtomicFloat16AddEXT|AtomicFloat32AddEXT|AtomicFloat64AddEXT|AtomicFloat16VectorNV extensions=SPV_EXT_shader_atomic_float_add
OpTypeBufferSurfaceINTEL 6086 Type-Declaration None IdResult AccessQualifier capabilities=VectorComputeINTEL
OpTypeStructContinuedINTEL 6090 Type-Declaration None IdRef*:Member0Type capabilities=LongCompositesINTEL
OpConstantCompositeContinuedINTEL 6091 Constant-Creation None IdRef*:Constituents capabilities=LongCompositesINTEL
OpSpecConstantCompositeContinuedINTEL 6092 Constant-Creation None IdRef*:Constituents capabilities=LongCompositesINTEL
OpCompositeConstructContinuedINTEL 6096 Composite None IdResultType IdResult IdRef*:Constituents capabilities=LongCompositesINTEL
OpConvertFToBF16INTEL 6116 Conversion None IdResultType IdResult IdRef:FloatValue capabilities=BFloat16ConversionINTEL
OpConvertBF16ToFINTEL 6117 Conversion None IdResultType IdResult IdRef:BFloat16Value capabilities=BFloat16ConversionINTEL
OpControlBarrierArriveINTEL 6142 Barrier None IdScope:Execution IdScope:Memory IdMemorySemantics:Semantics capabilities=SplitBarrierINTEL
OpControlBarrierWaitINTEL 6143 Barrier None IdScope:Execution IdScope:Memory IdMemorySemantics:Semantics capabilities=SplitBarrierINTEL
OpArithmeticFenceEXT 6145 Miscellaneous None IdResultType IdResult IdRef:Target capabilities=ArithmeticFenceEXT
OpTaskSequenceCreateALTERA 6163 exclude None IdResultType IdResult IdRef:Function LiteralInteger:Pipelined LiteralInteger:UseStallEnableClusters LiteralInteger:GetCapacity LiteralInteger:AsyncCapacity capabilities=TaskSequenceALTERA
OpTaskSequenceCreateINTEL = OpTaskSequenceCreateALTERA
OpTaskSequenceAsyncALTERA 6164 exclude None IdRef:Sequence IdRef*:Arguments capabilities=TaskSequenceALTERA
OpTaskSequenceAsyncINTEL = OpTaskSequenceAsyncALTERA
OpTaskSequenceGetALTERA 6165 exclude None IdResultType IdResult IdRef:Sequence capabilities=TaskSequenceALTERA
OpTaskSequenceGetINTEL = OpTaskSequenceGetALTERA
OpTaskSequenceReleaseALTERA 6166 exclude None IdRef:Sequence capabilities=TaskSequenceALTERA
OpTaskSequenceReleaseINTEL = OpTaskSequenceReleaseALTERA
OpTypeTaskSequenceALTERA 6199 exclude None IdResult capabilities=TaskSequenceALTERA
OpTypeTaskSequenceINTEL = OpTypeTaskSequenceALTERA
OpSubgroupBlockPrefetchINTEL 6221 Group None IdRef:Ptr IdRef:NumBytes MemoryAccess? capabilities=SubgroupBufferPrefetchINTEL
OpSubgroup2DBlockLoadINTEL 6231 Group None IdRef:ElementSize IdRef:BlockWidth IdRef:BlockHeight IdRef:BlockCount IdRef:SrcBasePointer IdRef:MemoryWidth IdRef:MemoryHeight IdRef:MemoryPitch IdRef:Coordinate IdRef:DstPointer capabilities=Subgroup2DBlockIOINTEL
OpSubgroup2DBlockLoadTransformINTEL 6232 Group None IdRef:ElementSize IdRef:BlockWidth IdRef:BlockHeight IdRef:BlockCount IdRef:SrcBasePointer IdRef:MemoryWidth IdRef:MemoryHeight IdRef:MemoryPitch IdRef:Coordinate IdRef:DstPointer capabilities=Subgroup2DBlockTransformINTEL
OpSubgroup2DBlockLoadTransposeINTEL 6233 Group None IdRef:ElementSize IdRef:BlockWidth IdRef:BlockHeight IdRef:BlockCount IdRef:SrcBasePointer IdRef:MemoryWidth IdRef:MemoryHeight IdRef:MemoryPitch IdRef:Coordinate IdRef:DstPointer capabilities=Subgroup2DBlockTransposeINTEL
OpSubgroup2DBlockPrefetchINTEL 6234 Group None IdRef:ElementSize IdRef:BlockWidth IdRef:BlockHeight IdRef:BlockCount IdRef:SrcBasePointer IdRef:MemoryWidth IdRef:MemoryHeight IdRef:MemoryPitch IdRef:Coordinate capabilities=Subgroup2DBlockIOINTEL
OpSubgroup2DBlockStoreINTEL 6235 Group None IdRef:ElementSize IdRef:BlockWidth IdRef:BlockHeight IdRef:BlockCount IdRef:SrcPointer IdRef:DstBasePointer IdRef:MemoryWidth IdRef:MemoryHeight IdRef:MemoryPitch IdRef:Coordinate capabilities=Subgroup2DBlockIOINTEL
OpSubgroupMatrixMultiplyAccumulateINTEL 6237 Group None IdResultType IdResult IdRef:KDim IdRef:MatrixA IdRef:MatrixB IdRef:MatrixC MatrixMultiplyAccumulateOperands? capabilities=SubgroupMatrixMultiplyAccumulateINTEL
OpBitwiseFunctionINTEL 6242 Bit None IdResultType IdResult IdRef:A IdRef:B IdRef:C IdRef:LUTIndex capabilities=TernaryBitwiseFunctionINTEL
OpUntypedVariableLengthArrayINTEL 6244 Memory None IdResultType IdResult IdRef:ElementType IdRef:Length capabilities=UntypedVariableLengthArrayINTEL
OpConditionalExtensionINTEL 6248 Extension None IdRef:Condition LiteralString:Name capabilities=SpecConditionalINTEL
OpConditionalEntryPointINTEL 6249 Mode-Setting None IdRef:Condition ExecutionModel IdRef:EntryPoint LiteralString:Name IdRef*:Interface capabilities=SpecConditionalINTEL
OpConditionalCapabilityINTEL 6250 Mode-Setting None IdRef:Condition Capability capabilities=SpecConditionalINTEL
OpSpecConstantTargetINTEL 6251 Constant-Creation None IdResultType IdResult LiteralInteger:Target LiteralInteger*:Features capabilities=FunctionVariantsINTEL
OpSpecConstantArchitectureINTEL 6252 Constant-Creation None IdResultType IdResult LiteralInteger:Category LiteralInteger:Family LiteralInteger:Opcode LiteralInteger:Architecture capabilities=FunctionVariantsINTEL
OpSpecConstantCapabilitiesINTEL 6253 Constant-Creation None IdResultType IdResult Capability*:Capabilities capabilities=FunctionVariantsINTEL
OpConditionalCopyObjectINTEL 6254 Composite None IdResultType IdResult IdRef*:Condition capabilities=SpecConditionalINTEL
OpPredicatedLoadINTEL 6258 Memory None IdResultType IdResult IdRef:Pointer IdRef:Predicate IdRef:DefaultValue MemoryAccess? capabilities=PredicatedIOINTEL
OpPredicatedStoreINTEL 6259 Memory None IdRef:Pointer IdRef:Object IdRef:Predicate MemoryAccess? capabilities=PredicatedIOINTEL
OpGroupIMulKHR 6401 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpGroupFMulKHR 6402 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpGroupBitwiseAndKHR 6403 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpGroupBitwiseOrKHR 6404 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpGroupBitwiseXorKHR 6405 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpGroupLogicalAndKHR 6406 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpGroupLogicalOrKHR 6407 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpGroupLogicalXorKHR 6408 Group None IdResultType IdResult IdScope:Execution GroupOperation:Operation IdRef:X capabilities=GroupUniformArithmeticKHR
OpRoundFToTF32INTEL 6426 Conversion None IdResultType IdResult IdRef:FloatValue capabilities=TensorFloat32RoundingINTEL
OpMaskedGatherINTEL 6428 Memory None IdResultType IdResult IdRef:PtrVector LiteralInteger:Alignment IdRef:Mask IdRef:FillEmpty capabilities=MaskedGatherScatterINTEL
OpMaskedScatterINTEL 6429 Memory None IdRef:InputVector IdRef:PtrVector LiteralInteger:Alignment IdRef:Mask capabilities=MaskedGatherScatterINTEL
OpConvertHandleToImageINTEL 6529 Image None IdResultType IdResult IdRef:Operand capabilities=BindlessImagesINTEL
OpConvertHandleToSamplerINTEL 6530 Image None IdResultType IdResult IdRef:Operand capabilities=BindlessImagesINTEL
OpConvertHandleToSampledImageINTEL 6531 Image None IdResultType IdResult IdRef:Operand capabilities=BindlessImagesINTEL
"""

ENUMERANTS = """\
ImageOperands.None 0 1.0
ImageOperands.Bias 1 1.0 IdRef capabilities=Shader
ImageOperands.Lod 2 1.0 IdRef
ImageOperands.Grad 4 1.0 IdRef IdRef
ImageOperands.ConstOffset 8 1.0 IdRef
ImageOperands.Offset 16 1.0 IdRef capabilities=ImageGatherExtended
ImageOperands.ConstOffsets 32 1.0 IdRef capabilities=ImageGatherExtended
ImageOperands.Sample 64 1.0 IdRef
ImageOperands.MinLod 128 1.0 IdRef capabilities=MinLod
ImageOperands.MakeTexelAvailable 256 1.5 IdScope capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
ImageOperands.MakeTexelAvailableKHR = ImageOperands.MakeTexelAvailable
ImageOperands.MakeTexelVisible 512 1.5 IdScope capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
ImageOperands.MakeTexelVisibleKHR = ImageOperands.MakeTexelVisible
ImageOperands.NonPrivateTexel 1024 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
ImageOperands.NonPrivateTexelKHR = ImageOperands.NonPrivateTexel
ImageOperands.VolatileTexel 2048 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
ImageOperands.VolatileTexelKHR = ImageOperands.VolatileTexel
ImageOperands.SignExtend 4096 1.4
ImageOperands.ZeroExtend 8192 1.4
ImageOperands.Nontemporal 16384 1.6
ImageOperands.Offsets 65536 1.0 IdRef
FPFastMathMode.None 0 1.0
FPFastMathMode.NotNaN 1 1.0
FPFastMathMode.NotInf 2 1.0
FPFastMathMode.NSZ 4 1.0
FPFastMathMode.AllowRecip 8 1.0
FPFastMathMode.Fast 16 1.0
FPFastMathMode.AllowContract 65536 None capabilities=FloatControls2|FPFastMathModeINTEL
FPFastMathMode.AllowContractFastINTEL = FPFastMathMode.AllowContract
FPFastMathMode.AllowReassoc 131072 None capabilities=FloatControls2|FPFastMathModeINTEL
FPFastMathMode.AllowReassocINTEL = FPFastMathMode.AllowReassoc
FPFastMathMode.AllowTransform 262144 None capabilities=FloatControls2
SelectionControl.None 0 1.0
SelectionControl.Flatten 1 1.0
SelectionControl.DontFlatten 2 1.0
LoopControl.None 0 1.0
LoopControl.Unroll 1 1.0
LoopControl.DontUnroll 2 1.0
LoopControl.DependencyInfinite 4 1.1
LoopControl.DependencyLength 8 1.1 LiteralInteger
LoopControl.MinIterations 16 1.4 LiteralInteger
LoopControl.MaxIterations 32 1.4 LiteralInteger
LoopControl.IterationMultiple 64 1.4 LiteralInteger
LoopControl.PeelCount 128 1.4 LiteralInteger
LoopControl.PartialCount 256 1.4 LiteralInteger
LoopControl.InitiationIntervalALTERA 65536 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.InitiationIntervalINTEL = LoopControl.InitiationIntervalALTERA
LoopControl.MaxConcurrencyALTERA 131072 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.MaxConcurrencyINTEL = LoopControl.MaxConcurrencyALTERA
LoopControl.DependencyArrayALTERA 262144 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.DependencyArrayINTEL = LoopControl.DependencyArrayALTERA
LoopControl.PipelineEnableALTERA 524288 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.PipelineEnableINTEL = LoopControl.PipelineEnableALTERA
LoopControl.LoopCoalesceALTERA 1048576 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.LoopCoalesceINTEL = LoopControl.LoopCoalesceALTERA
LoopControl.MaxInterleavingALTERA 2097152 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.MaxInterleavingINTEL = LoopControl.MaxInterleavingALTERA
LoopControl.SpeculatedIterationsALTERA 4194304 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.SpeculatedIterationsINTEL = LoopControl.SpeculatedIterationsALTERA
LoopControl.NoFusionALTERA 8388608 None capabilities=FPGALoopControlsALTERA
LoopControl.NoFusionINTEL = LoopControl.NoFusionALTERA
LoopControl.LoopCountALTERA 16777216 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.LoopCountINTEL = LoopControl.LoopCountALTERA
LoopControl.MaxReinvocationDelayALTERA 33554432 None LiteralInteger capabilities=FPGALoopControlsALTERA
LoopControl.MaxReinvocationDelayINTEL = LoopControl.MaxReinvocationDelayALTERA
FunctionControl.None 0 1.0
FunctionControl.Inline 1 1.0
FunctionControl.DontInline 2 1.0
FunctionControl.Pure 4 1.0
FunctionControl.Const 8 1.0
FunctionControl.OptNoneEXT 65536 None capabilities=OptNoneEXT
FunctionControl.OptNoneINTEL = FunctionControl.OptNoneEXT
MemorySemantics.Relaxed 0 1.0
MemorySemantics.None = MemorySemantics.Relaxed
MemorySemantics.Acquire 2 1.0
MemorySemantics.Release 4 1.0
MemorySemantics.AcquireRelease 8 1.0
MemorySemantics.SequentiallyConsistent 16 1.0
MemorySemantics.UniformMemory 64 1.0 capabilities=Shader
MemorySemantics.SubgroupMemory 128 1.0
MemorySemantics.WorkgroupMemory 256 1.0
MemorySemantics.CrossWorkgroupMemory 512 1.0
MemorySemantics.AtomicCounterMemory 1024 1.0 capabilities=AtomicStorage
MemorySemantics.ImageMemory 2048 1.0
MemorySemantics.OutputMemory 4096 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemorySemantics.OutputMemoryKHR = MemorySemantics.OutputMemory
MemorySemantics.MakeAvailable 8192 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemorySemantics.MakeAvailableKHR = MemorySemantics.MakeAvailable
MemorySemantics.MakeVisible 16384 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemorySemantics.MakeVisibleKHR = MemorySemantics.MakeVisible
MemorySemantics.Volatile 32768 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemoryAccess.None 0 1.0
MemoryAccess.Volatile 1 1.0
MemoryAccess.Aligned 2 1.0 LiteralInteger
MemoryAccess.Nontemporal 4 1.0
MemoryAccess.MakePointerAvailable 8 1.5 IdScope capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemoryAccess.MakePointerAvailableKHR = MemoryAccess.MakePointerAvailable
MemoryAccess.MakePointerVisible 16 1.5 IdScope capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemoryAccess.MakePointerVisibleKHR = MemoryAccess.MakePointerVisible
MemoryAccess.NonPrivatePointer 32 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemoryAccess.NonPrivatePointerKHR = MemoryAccess.NonPrivatePointer
MemoryAccess.AliasScopeINTELMask 65536 None IdRef capabilities=MemoryAccessAliasingINTEL extensions=SPV_INTEL_memory_access_aliasing
MemoryAccess.NoAliasINTELMask 131072 None IdRef capabilities=MemoryAccessAliasingINTEL extensions=SPV_INTEL_memory_access_aliasing
KernelProfilingInfo.None 0 1.0
KernelProfilingInfo.CmdExecTime 1 1.0 capabilities=Kernel
RayFlags.NoneKHR 0 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.OpaqueKHR 1 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.NoOpaqueKHR 2 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.TerminateOnFirstHitKHR 4 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.SkipClosestHitShaderKHR 8 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.CullBackFacingTrianglesKHR 16 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.CullFrontFacingTrianglesKHR 32 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.CullOpaqueKHR 64 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.CullNoOpaqueKHR 128 None capabilities=RayQueryKHR|RayTracingKHR
RayFlags.SkipTrianglesKHR 256 None capabilities=RayTraversalPrimitiveCullingKHR
RayFlags.SkipBuiltinPrimitivesNV = RayFlags.SkipTrianglesKHR
RayFlags.SkipAABBsKHR 512 None capabilities=RayTraversalPrimitiveCullingKHR
RayFlags.ForceOpacityMicromap2StateEXT 1024 None capabilities=RayTracingOpacityMicromapEXT
FragmentShadingRate.Vertical2Pixels 1 None capabilities=FragmentShadingRateKHR
FragmentShadingRate.Vertical4Pixels 2 None capabilities=FragmentShadingRateKHR
FragmentShadingRate.Horizontal2Pixels 4 None capabilities=FragmentShadingRateKHR
FragmentShadingRate.Horizontal4Pixels 8 None capabilities=FragmentShadingRateKHR
RawAccessChainOperands.None 0 1.0
RawAccessChainOperands.RobustnessPerComponentNV 1 None capabilities=RawAccessChainsNV
RawAccessChainOperands.RobustnessPerElementNV 2 None capabilities=RawAccessChainsNV
SourceLanguage.Unknown 0 1.0
SourceLanguage.ESSL 1 1.0
SourceLanguage.GLSL 2 1.0
SourceLanguage.OpenCL_C 3 1.0
SourceLanguage.OpenCL_CPP 4 1.0
SourceLanguage.HLSL 5 1.0
SourceLanguage.CPP_for_OpenCL 6 1.0
SourceLanguage.SYCL 7 1.0
SourceLanguage.HERO_C 8 1.0
SourceLanguage.NZSL 9 1.0
SourceLanguage.WGSL 10 1.0
SourceLanguage.Slang 11 1.0
SourceLanguage.Zig 12 1.0
SourceLanguage.Rust 13 1.0
ExecutionModel.Vertex 0 1.0 capabilities=Shader
ExecutionModel.TessellationControl 1 1.0 capabilities=Tessellation
ExecutionModel.TessellationEvaluation 2 1.0 capabilities=Tessellation
ExecutionModel.Geometry 3 1.0 capabilities=Geometry
ExecutionModel.Fragment 4 1.0 capabilities=Shader
ExecutionModel.GLCompute 5 1.0 capabilities=Shader
ExecutionModel.Kernel 6 1.0 capabilities=Kernel
ExecutionModel.TaskNV 5267 None capabilities=MeshShadingNV
ExecutionModel.MeshNV 5268 None capabilities=MeshShadingNV
ExecutionModel.RayGenerationKHR 5313 None capabilities=RayTracingNV|RayTracingKHR
ExecutionModel.RayGenerationNV = ExecutionModel.RayGenerationKHR
ExecutionModel.IntersectionKHR 5314 None capabilities=RayTracingNV|RayTracingKHR
ExecutionModel.IntersectionNV = ExecutionModel.IntersectionKHR
ExecutionModel.AnyHitKHR 5315 None capabilities=RayTracingNV|RayTracingKHR
ExecutionModel.AnyHitNV = ExecutionModel.AnyHitKHR
ExecutionModel.ClosestHitKHR 5316 None capabilities=RayTracingNV|RayTracingKHR
ExecutionModel.ClosestHitNV = ExecutionModel.ClosestHitKHR
ExecutionModel.MissKHR 5317 None capabilities=RayTracingNV|RayTracingKHR
ExecutionModel.MissNV = ExecutionModel.MissKHR
ExecutionModel.CallableKHR 5318 None capabilities=RayTracingNV|RayTracingKHR
ExecutionModel.CallableNV = ExecutionModel.CallableKHR
ExecutionModel.TaskEXT 5364 None capabilities=MeshShadingEXT
ExecutionModel.MeshEXT 5365 None capabilities=MeshShadingEXT
AddressingModel.Logical 0 1.0
AddressingModel.Physical32 1 1.0 capabilities=Addresses
AddressingModel.Physical64 2 1.0 capabilities=Addresses
AddressingModel.PhysicalStorageBuffer64 5348 1.5 capabilities=PhysicalStorageBufferAddresses extensions=SPV_EXT_physical_storage_buffer|SPV_KHR_physical_storage_buffer
AddressingModel.PhysicalStorageBuffer64EXT = AddressingModel.PhysicalStorageBuffer64
MemoryModel.Simple 0 1.0 capabilities=Shader
MemoryModel.GLSL450 1 1.0 capabilities=Shader
MemoryModel.OpenCL 2 1.0 capabilities=Kernel
MemoryModel.Vulkan 3 1.5 capabilities=VulkanMemoryModel extensions=SPV_KHR_vulkan_memory_model
MemoryModel.VulkanKHR = MemoryModel.Vulkan
ExecutionMode.Invocations 0 1.0 LiteralInteger:NumberOfInvocation capabilities=Geometry
ExecutionMode.SpacingEqual 1 1.0 capabilities=Tessellation
ExecutionMode.SpacingFractionalEven 2 1.0 capabilities=Tessellation
ExecutionMode.SpacingFractionalOdd 3 1.0 capabilities=Tessellation
ExecutionMode.VertexOrderCw 4 1.0 capabilities=Tessellation
ExecutionMode.VertexOrderCcw 5 1.0 capabilities=Tessellation
ExecutionMode.PixelCenterInteger 6 1.0 capabilities=Shader
ExecutionMode.OriginUpperLeft 7 1.0 capabilities=Shader
ExecutionMode.OriginLowerLeft 8 1.0 capabilities=Shader
ExecutionMode.EarlyFragmentTests 9 1.0 capabilities=Shader
ExecutionMode.PointMode 10 1.0 capabilities=Tessellation
ExecutionMode.Xfb 11 1.0 capabilities=TransformFeedback
ExecutionMode.DepthReplacing 12 1.0 capabilities=Shader
ExecutionMode.DepthGreater 14 1.0 capabilities=Shader
ExecutionMode.DepthLess 15 1.0 capabilities=Shader
ExecutionMode.DepthUnchanged 16 1.0 capabilities=Shader
ExecutionMode.LocalSize 17 1.0 LiteralInteger:XSize LiteralInteger:YSize LiteralInteger:ZSize
ExecutionMode.LocalSizeHint 18 1.0 LiteralInteger:XSize LiteralInteger:YSize LiteralInteger:ZSize capabilities=Kernel
ExecutionMode.InputPoints 19 1.0 capabilities=Geometry
ExecutionMode.InputLines 20 1.0 capabilities=Geometry
ExecutionMode.InputLinesAdjacency 21 1.0 capabilities=Geometry
ExecutionMode.Triangles 22 1.0 capabilities=Geometry|Tessellation
ExecutionMode.InputTrianglesAdjacency 23 1.0 capabilities=Geometry
ExecutionMode.Quads 24 1.0 capabilities=Tessellation
ExecutionMode.Isolines 25 1.0 capabilities=Tessellation
ExecutionMode.OutputVertices 26 1.0 LiteralInteger:VertexCount capabilities=Geometry|Tessellation|MeshShadingNV|MeshShadingEXT
ExecutionMode.OutputPoints 27 1.0 capabilities=Geometry|MeshShadingNV|MeshShadingEXT
ExecutionMode.OutputLineStrip 28 1.0 capabilities=Geometry
ExecutionMode.OutputTriangleStrip 29 1.0 capabilities=Geometry
ExecutionMode.VecTypeHint 30 1.0 LiteralInteger:VectorType capabilities=Kernel
ExecutionMode.ContractionOff 31 1.0 capabilities=Kernel
ExecutionMode.Initializer 33 1.1 capabilities=Kernel
ExecutionMode.Finalizer 34 1.1 capabilities=Kernel
ExecutionMode.SubgroupSize 35 1.1 LiteralInteger:SubgroupSize capabilities=SubgroupDispatch
ExecutionMode.SubgroupsPerWorkgroup 36 1.1 LiteralInteger:SubgroupsPerWorkgroup capabilities=SubgroupDispatch
ExecutionMode.SubgroupsPerWorkgroupId 37 1.2 IdRef:SubgroupsPerWorkgroup capabilities=SubgroupDispatch
ExecutionMode.LocalSizeId 38 1.2 IdRef:XSize IdRef:YSize IdRef:ZSize
ExecutionMode.LocalSizeHintId 39 1.2 IdRef:XSizeHint IdRef:YSizeHint IdRef:ZSizeHint capabilities=Kernel
ExecutionMode.NonCoherentColorAttachmentReadEXT 4169 None capabilities=TileImageColorReadAccessEXT
ExecutionMode.NonCoherentDepthAttachmentReadEXT 4170 None capabilities=TileImageDepthReadAccessEXT
ExecutionMode.NonCoherentStencilAttachmentReadEXT 4171 None capabilities=TileImageStencilReadAccessEXT
ExecutionMode.SubgroupUniformControlFlowKHR 4421 None capabilities=Shader extensions=SPV_KHR_subgroup_uniform_control_flow
ExecutionMode.PostDepthCoverage 4446 None capabilities=SampleMaskPostDepthCoverage extensions=SPV_KHR_post_depth_coverage
ExecutionMode.DenormPreserve 4459 1.4 LiteralInteger:TargetWidth capabilities=DenormPreserve extensions=SPV_KHR_float_controls
ExecutionMode.DenormFlushToZero 4460 1.4 LiteralInteger:TargetWidth capabilities=DenormFlushToZero extensions=SPV_KHR_float_controls
ExecutionMode.SignedZeroInfNanPreserve 4461 1.4 LiteralInteger:TargetWidth capabilities=SignedZeroInfNanPreserve extensions=SPV_KHR_float_controls
ExecutionMode.RoundingModeRTE 4462 1.4 LiteralInteger:TargetWidth capabilities=RoundingModeRTE extensions=SPV_KHR_float_controls
ExecutionMode.RoundingModeRTZ 4463 1.4 LiteralInteger:TargetWidth capabilities=RoundingModeRTZ extensions=SPV_KHR_float_controls
ExecutionMode.NonCoherentTileAttachmentReadQCOM 4489 None capabilities=TileShadingQCOM
ExecutionMode.TileShadingRateQCOM 4490 None LiteralInteger:XRate LiteralInteger:YRate LiteralInteger:ZRate capabilities=TileShadingQCOM
ExecutionMode.EarlyAndLateFragmentTestsAMD 5017 None capabilities=Shader extensions=SPV_AMD_shader_early_and_late_fragment_tests
ExecutionMode.StencilRefReplacingEXT 5027 None capabilities=StencilExportEXT extensions=SPV_EXT_shader_stencil_export
ExecutionMode.CoalescingAMDX 5069 None capabilities=ShaderEnqueueAMDX
ExecutionMode.IsApiEntryAMDX 5070 None IdRef:IsEntry capabilities=ShaderEnqueueAMDX
ExecutionMode.MaxNodeRecursionAMDX 5071 None IdRef:NumberOfRecursions capabilities=ShaderEnqueueAMDX
ExecutionMode.StaticNumWorkgroupsAMDX 5072 None IdRef:XSize IdRef:YSize IdRef:ZSize capabilities=ShaderEnqueueAMDX
ExecutionMode.ShaderIndexAMDX 5073 None IdRef:ShaderIndex capabilities=ShaderEnqueueAMDX
ExecutionMode.MaxNumWorkgroupsAMDX 5077 None IdRef:XSize IdRef:YSize IdRef:ZSize capabilities=ShaderEnqueueAMDX
ExecutionMode.StencilRefUnchangedFrontAMD 5079 None capabilities=StencilExportEXT extensions=SPV_AMD_shader_early_and_late_fragment_tests|SPV_EXT_shader_stencil_export
ExecutionMode.StencilRefGreaterFrontAMD 5080 None capabilities=StencilExportEXT extensions=SPV_AMD_shader_early_and_late_fragment_tests|SPV_EXT_shader_stencil_export
ExecutionMode.StencilRefLessFrontAMD 5081 None capabilities=StencilExportEXT extensions=SPV_AMD_shader_early_and_late_fragment_tests|SPV_EXT_shader_stencil_export
ExecutionMode.StencilRefUnchangedBackAMD 5082 None capabilities=StencilExportEXT extensions=SPV_AMD_shader_early_and_late_fragment_tests|SPV_EXT_shader_stencil_export
ExecutionMode.StencilRefGreaterBackAMD 5083 None capabilities=StencilExportEXT extensions=SPV_AMD_shader_early_and_late_fragment_tests|SPV_EXT_shader_stencil_export
ExecutionMode.StencilRefLessBackAMD 5084 None capabilities=StencilExportEXT extensions=SPV_AMD_shader_early_and_late_fragment_tests|SPV_EXT_shader_stencil_export
ExecutionMode.QuadDerivativesKHR 5088 None capabilities=QuadControlKHR
ExecutionMode.RequireFullQuadsKHR 5089 None capabilities=QuadControlKHR
ExecutionMode.SharesInputWithAMDX 5102 None IdRef:NodeName IdRef:ShaderIndex capabilities=ShaderEnqueueAMDX
ExecutionMode.OutputLinesEXT 5269 None capabilities=MeshShadingNV|MeshShadingEXT extensions=SPV_NV_mesh_shader|SPV_EXT_mesh_shader
ExecutionMode.OutputLinesNV = ExecutionMode.OutputLinesEXT
ExecutionMode.OutputPrimitivesEXT 5270 None LiteralInteger:PrimitiveCount capabilities=MeshShadingNV|MeshShadingEXT extensions=SPV_NV_mesh_shader|SPV_EXT_mesh_shader
ExecutionMode.OutputPrimitivesNV = ExecutionMode.OutputPrimitivesEXT
ExecutionMode.DerivativeGroupQuadsKHR 5289 None capabilities=ComputeDerivativeGroupQuadsKHR extensions=SPV_NV_compute_shader_derivatives|SPV_KHR_compute_shader_derivatives
ExecutionMode.DerivativeGroupQuadsNV = ExecutionMode.DerivativeGroupQuadsKHR
ExecutionMode.DerivativeGroupLinearKHR 5290 None capabilities=ComputeDerivativeGroupLinearKHR extensions=SPV_NV_compute_shader_derivatives|SPV_KHR_compute_shader_derivatives
ExecutionMode.DerivativeGroupLinearNV = ExecutionMode.DerivativeGroupLinearKHR
ExecutionMode.OutputTrianglesEXT 5298 None capabilities=MeshShadingNV|MeshShadingEXT extensions=SPV_NV_mesh_shader|SPV_EXT_mesh_shader
ExecutionMode.OutputTrianglesNV = ExecutionMode.OutputTrianglesEXT
ExecutionMode.PixelInterlockOrderedEXT 5366 None capabilities=FragmentShaderPixelInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
ExecutionMode.PixelInterlockUnorderedEXT 5367 None capabilities=FragmentShaderPixelInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
ExecutionMode.SampleInterlockOrderedEXT 5368 None capabilities=FragmentShaderSampleInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
ExecutionMode.SampleInterlockUnorderedEXT 5369 None capabilities=FragmentShaderSampleInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
ExecutionMode.ShadingRateInterlockOrderedEXT 5370 None capabilities=FragmentShaderShadingRateInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
ExecutionMode.ShadingRateInterlockUnorderedEXT 5371 None capabilities=FragmentShaderShadingRateInterlockEXT extensions=SPV_EXT_fragment_shader_interlock
ExecutionMode.Shader64BitIndexingEXT 5427 None capabilities=Shader64BitIndexingEXT
ExecutionMode.SharedLocalMemorySizeINTEL 5618 None LiteralInteger:Size capabilities=VectorComputeINTEL
ExecutionMode.RoundingModeRTPINTEL 5620 None LiteralInteger:TargetWidth capabilities=RoundToInfinityINTEL
ExecutionMode.RoundingModeRTNINTEL 5621 None LiteralInteger:TargetWidth capabilities=RoundToInfinityINTEL
ExecutionMode.FloatingPointModeALTINTEL 5622 None LiteralInteger:TargetWidth capabilities=RoundToInfinityINTEL
ExecutionMode.FloatingPointModeIEEEINTEL 5623 None LiteralInteger:TargetWidth capabilities=RoundToInfinityINTEL
ExecutionMode.MaxWorkgroupSizeINTEL 5893 None LiteralInteger:MaxXSize LiteralInteger:MaxYSize LiteralInteger:MaxZSize capabilities=KernelAttributesINTEL extensions=SPV_INTEL_kernel_attributes
ExecutionMode.MaxWorkDimINTEL 5894 None LiteralInteger:MaxDimensions capabilities=KernelAttributesINTEL extensions=SPV_INTEL_kernel_attributes
ExecutionMode.NoGlobalOffsetINTEL 5895 None capabilities=KernelAttributesINTEL extensions=SPV_INTEL_kernel_attributes
ExecutionMode.NumSIMDWorkitemsINTEL 5896 None LiteralInteger:VectorWidth capabilities=FPGAKernelAttributesINTEL extensions=SPV_INTEL_kernel_attributes
ExecutionMode.SchedulerTargetFmaxMhzINTEL 5903 None LiteralInteger:TargetFmax capabilities=FPGAKernelAttributesINTEL
ExecutionMode.MaximallyReconvergesKHR 6023 None capabilities=Shader extensions=SPV_KHR_maximal_reconvergence
ExecutionMode.FPFastMathDefault 6028 None IdRef:TargetType IdRef:FastMathMode capabilities=FloatControls2
ExecutionMode.StreamingInterfaceINTEL 6154 None LiteralInteger:StallFreeReturn capabilities=FPGAKernelAttributesINTEL
ExecutionMode.RegisterMapInterfaceINTEL 6160 None LiteralInteger:WaitForDoneWrite capabilities=FPGAKernelAttributesv2INTEL
ExecutionMode.NamedBarrierCountINTEL 6417 None LiteralInteger:BarrierCount capabilities=VectorComputeINTEL
ExecutionMode.MaximumRegistersINTEL 6461 None LiteralInteger:NumberOfRegisters capabilities=RegisterLimitsINTEL
ExecutionMode.MaximumRegistersIdINTEL 6462 None IdRef:NumberOfRegisters capabilities=RegisterLimitsINTEL
ExecutionMode.NamedMaximumRegistersINTEL 6463 None NamedMaximumNumberOfRegisters capabilities=RegisterLimitsINTEL
StorageClass.UniformConstant 0 1.0
StorageClass.Input 1 1.0
StorageClass.Uniform 2 1.0 capabilities=Shader
StorageClass.Output 3 1.0 capabilities=Shader
StorageClass.Workgroup 4 1.0
StorageClass.CrossWorkgroup 5 1.0
StorageClass.Private 6 1.0 capabilities=Shader|VectorComputeINTEL
StorageClass.Function 7 1.0
StorageClass.Generic 8 1.0 capabilities=GenericPointer
StorageClass.PushConstant 9 1.0 capabilities=Shader
StorageClass.AtomicCounter 10 1.0 capabilities=AtomicStorage
StorageClass.Image 11 1.0
StorageClass.StorageBuffer 12 1.3 capabilities=Shader extensions=SPV_KHR_storage_buffer_storage_class|SPV_KHR_variable_pointers
StorageClass.TileImageEXT 4172 None capabilities=TileImageColorReadAccessEXT
StorageClass.TileAttachmentQCOM 4491 None capabilities=TileShadingQCOM
StorageClass.NodePayloadAMDX 5068 None capabilities=ShaderEnqueueAMDX
StorageClass.CallableDataKHR 5328 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
StorageClass.CallableDataNV = StorageClass.CallableDataKHR
StorageClass.IncomingCallableDataKHR 5329 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
StorageClass.IncomingCallableDataNV = StorageClass.IncomingCallableDataKHR
StorageClass.RayPayloadKHR 5338 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
StorageClass.RayPayloadNV = StorageClass.RayPayloadKHR
StorageClass.HitAttributeKHR 5339 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
StorageClass.HitAttributeNV = StorageClass.HitAttributeKHR
StorageClass.IncomingRayPayloadKHR 5342 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
StorageClass.IncomingRayPayloadNV = StorageClass.IncomingRayPayloadKHR
StorageClass.ShaderRecordBufferKHR 5343 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
StorageClass.ShaderRecordBufferNV = StorageClass.ShaderRecordBufferKHR
StorageClass.PhysicalStorageBuffer 5349 1.5 capabilities=PhysicalStorageBufferAddresses extensions=SPV_EXT_physical_storage_buffer|SPV_KHR_physical_storage_buffer
StorageClass.PhysicalStorageBufferEXT = StorageClass.PhysicalStorageBuffer
StorageClass.HitObjectAttributeNV 5385 None capabilities=ShaderInvocationReorderNV
StorageClass.TaskPayloadWorkgroupEXT 5402 1.4 capabilities=MeshShadingEXT extensions=SPV_EXT_mesh_shader
StorageClass.HitObjectAttributeEXT 5411 None capabilities=ShaderInvocationReorderEXT
StorageClass.CodeSectionINTEL 5605 None capabilities=FunctionPointersINTEL extensions=SPV_INTEL_function_pointers
StorageClass.DeviceOnlyALTERA 5936 None capabilities=USMStorageClassesALTERA
StorageClass.DeviceOnlyINTEL = StorageClass.DeviceOnlyALTERA
StorageClass.HostOnlyALTERA 5937 None capabilities=USMStorageClassesALTERA
StorageClass.HostOnlyINTEL = StorageClass.HostOnlyALTERA
Dim.1D 0 1.0 capabilities=Sampled1D
Dim.2D 1 1.0
Dim.3D 2 1.0
Dim.Cube 3 1.0 capabilities=Shader
Dim.Rect 4 1.0 capabilities=SampledRect
Dim.Buffer 5 1.0 capabilities=SampledBuffer
Dim.SubpassData 6 1.0 capabilities=InputAttachment
Dim.TileImageDataEXT 4173 None capabilities=TileImageColorReadAccessEXT
SamplerAddressingMode.None 0 1.0
SamplerAddressingMode.ClampToEdge 1 1.0
SamplerAddressingMode.Clamp 2 1.0
SamplerAddressingMode.Repeat 3 1.0
SamplerAddressingMode.RepeatMirrored 4 1.0
SamplerFilterMode.Nearest 0 1.0
SamplerFilterMode.Linear 1 1.0
ImageFormat.Unknown 0 1.0
ImageFormat.Rgba32f 1 1.0 capabilities=Shader
ImageFormat.Rgba16f 2 1.0 capabilities=Shader
ImageFormat.R32f 3 1.0 capabilities=Shader
ImageFormat.Rgba8 4 1.0 capabilities=Shader
ImageFormat.Rgba8Snorm 5 1.0 capabilities=Shader
ImageFormat.Rg32f 6 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg16f 7 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R11fG11fB10f 8 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R16f 9 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rgba16 10 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rgb10A2 11 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg16 12 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg8 13 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R16 14 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R8 15 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rgba16Snorm 16 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg16Snorm 17 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg8Snorm 18 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R16Snorm 19 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R8Snorm 20 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rgba32i 21 1.0 capabilities=Shader
ImageFormat.Rgba16i 22 1.0 capabilities=Shader
ImageFormat.Rgba8i 23 1.0 capabilities=Shader
ImageFormat.R32i 24 1.0 capabilities=Shader
ImageFormat.Rg32i 25 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg16i 26 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg8i 27 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R16i 28 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R8i 29 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rgba32ui 30 1.0 capabilities=Shader
ImageFormat.Rgba16ui 31 1.0 capabilities=Shader
ImageFormat.Rgba8ui 32 1.0 capabilities=Shader
ImageFormat.R32ui 33 1.0 capabilities=Shader
ImageFormat.Rgb10a2ui 34 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg32ui 35 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg16ui 36 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.Rg8ui 37 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R16ui 38 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R8ui 39 1.0 capabilities=StorageImageExtendedFormats
ImageFormat.R64ui 40 1.0 capabilities=Int64ImageEXT
ImageFormat.R64i 41 1.0 capabilities=Int64ImageEXT
ImageChannelOrder.R 0 1.0
ImageChannelOrder.A 1 1.0
ImageChannelOrder.RG 2 1.0
ImageChannelOrder.RA 3 1.0
ImageChannelOrder.RGB 4 1.0
ImageChannelOrder.RGBA 5 1.0
ImageChannelOrder.BGRA 6 1.0
ImageChannelOrder.ARGB 7 1.0
ImageChannelOrder.Intensity 8 1.0
ImageChannelOrder.Luminance 9 1.0
ImageChannelOrder.Rx 10 1.0
ImageChannelOrder.RGx 11 1.0
ImageChannelOrder.RGBx 12 1.0
ImageChannelOrder.Depth 13 1.0
ImageChannelOrder.DepthStencil 14 1.0
ImageChannelOrder.sRGB 15 1.0
ImageChannelOrder.sRGBx 16 1.0
ImageChannelOrder.sRGBA 17 1.0
ImageChannelOrder.sBGRA 18 1.0
ImageChannelOrder.ABGR 19 1.0
ImageChannelDataType.SnormInt8 0 1.0
ImageChannelDataType.SnormInt16 1 1.0
ImageChannelDataType.UnormInt8 2 1.0
ImageChannelDataType.UnormInt16 3 1.0
ImageChannelDataType.UnormShort565 4 1.0
ImageChannelDataType.UnormShort555 5 1.0
ImageChannelDataType.UnormInt101010 6 1.0
ImageChannelDataType.SignedInt8 7 1.0
ImageChannelDataType.SignedInt16 8 1.0
ImageChannelDataType.SignedInt32 9 1.0
ImageChannelDataType.UnsignedInt8 10 1.0
ImageChannelDataType.UnsignedInt16 11 1.0
ImageChannelDataType.UnsignedInt32 12 1.0
ImageChannelDataType.HalfFloat 13 1.0
ImageChannelDataType.Float 14 1.0
ImageChannelDataType.UnormInt24 15 1.0
ImageChannelDataType.UnormInt101010_2 16 1.0
ImageChannelDataType.UnormInt10X6EXT 17 1.0
ImageChannelDataType.UnsignedIntRaw10EXT 19 1.0
ImageChannelDataType.UnsignedIntRaw12EXT 20 1.0
ImageChannelDataType.UnormInt2_101010EXT 21 1.0
ImageChannelDataType.UnsignedInt10X6EXT 22 1.0
ImageChannelDataType.UnsignedInt12X4EXT 23 1.0
ImageChannelDataType.UnsignedInt14X2EXT 24 1.0
ImageChannelDataType.UnormInt12X4EXT 25 1.0
ImageChannelDataType.UnormInt14X2EXT 26 1.0
FPRoundingMode.RTE 0 1.0
FPRoundingMode.RTZ 1 1.0
FPRoundingMode.RTP 2 1.0
FPRoundingMode.RTN 3 1.0
FPDenormMode.Preserve 0 None capabilities=FunctionFloatControlINTEL
FPDenormMode.FlushToZero 1 None capabilities=FunctionFloatControlINTEL
QuantizationModes.TRN 0 None capabilities=ArbitraryPrecisionFixedPointALTERA
QuantizationModes.TRN_ZERO 1 None capabilities=ArbitraryPrecisionFixedPointALTERA
QuantizationModes.RND 2 None capabilities=ArbitraryPrecisionFixedPointALTERA
QuantizationModes.RND_ZERO 3 None capabilities=ArbitraryPrecisionFixedPointALTERA
QuantizationModes.RND_INF 4 None capabilities=ArbitraryPrecisionFixedPointALTERA
QuantizationModes.RND_MIN_INF 5 None capabilities=ArbitraryPrecisionFixedPointALTERA
QuantizationModes.RND_CONV 6 None capabilities=ArbitraryPrecisionFixedPointALTERA
QuantizationModes.RND_CONV_ODD 7 None capabilities=ArbitraryPrecisionFixedPointALTERA
FPOperationMode.IEEE 0 None capabilities=FunctionFloatControlINTEL
FPOperationMode.ALT 1 None capabilities=FunctionFloatControlINTEL
OverflowModes.WRAP 0 None capabilities=ArbitraryPrecisionFixedPointALTERA
OverflowModes.SAT 1 None capabilities=ArbitraryPrecisionFixedPointALTERA
OverflowModes.SAT_ZERO 2 None capabilities=ArbitraryPrecisionFixedPointALTERA
OverflowModes.SAT_SYM 3 None capabilities=ArbitraryPrecisionFixedPointALTERA
LinkageType.Export 0 1.0 capabilities=Linkage
LinkageType.Import 1 1.0 capabilities=Linkage
LinkageType.LinkOnceODR 2 None capabilities=Linkage extensions=SPV_KHR_linkonce_odr
AccessQualifier.ReadOnly 0 1.0 capabilities=Kernel
AccessQualifier.WriteOnly 1 1.0 capabilities=Kernel
AccessQualifier.ReadWrite 2 1.0 capabilities=Kernel
HostAccessQualifier.NoneINTEL 0 None capabilities=GlobalVariableHostAccessINTEL
HostAccessQualifier.ReadINTEL 1 None capabilities=GlobalVariableHostAccessINTEL
HostAccessQualifier.WriteINTEL 2 None capabilities=GlobalVariableHostAccessINTEL
HostAccessQualifier.ReadWriteINTEL 3 None capabilities=GlobalVariableHostAccessINTEL
FunctionParameterAttribute.Zext 0 1.0 capabilities=Kernel
FunctionParameterAttribute.Sext 1 1.0 capabilities=Kernel
FunctionParameterAttribute.ByVal 2 1.0 capabilities=Kernel
FunctionParameterAttribute.Sret 3 1.0 capabilities=Kernel
FunctionParameterAttribute.NoAlias 4 1.0 capabilities=Kernel
FunctionParameterAttribute.NoCapture 5 1.0 capabilities=Kernel
FunctionParameterAttribute.NoWrite 6 1.0 capabilities=Kernel
FunctionParameterAttribute.NoReadWrite 7 1.0 capabilities=Kernel
FunctionParameterAttribute.RuntimeAlignedALTERA 5940 1.0 capabilities=RuntimeAlignedAttributeALTERA
FunctionParameterAttribute.RuntimeAlignedINTEL = FunctionParameterAttribute.RuntimeAlignedALTERA
Decoration.RelaxedPrecision 0 1.0 capabilities=Shader
Decoration.SpecId 1 1.0 LiteralInteger:SpecializationConstantID capabilities=Shader|Kernel
Decoration.Block 2 1.0 capabilities=Shader
Decoration.BufferBlock 3 1.0 capabilities=Shader
Decoration.RowMajor 4 1.0 capabilities=Matrix
Decoration.ColMajor 5 1.0 capabilities=Matrix
Decoration.ArrayStride 6 1.0 LiteralInteger:ArrayStride capabilities=Shader
Decoration.MatrixStride 7 1.0 LiteralInteger:MatrixStride capabilities=Matrix
Decoration.GLSLShared 8 1.0 capabilities=Shader
Decoration.GLSLPacked 9 1.0 capabilities=Shader
Decoration.CPacked 10 1.0 capabilities=Kernel
Decoration.BuiltIn 11 1.0 BuiltIn
Decoration.NoPerspective 13 1.0 capabilities=Shader
Decoration.Flat 14 1.0 capabilities=Shader
Decoration.Patch 15 1.0 capabilities=Tessellation
Decoration.Centroid 16 1.0 capabilities=Shader
Decoration.Sample 17 1.0 capabilities=SampleRateShading
Decoration.Invariant 18 1.0 capabilities=Shader
Decoration.Restrict 19 1.0
Decoration.Aliased 20 1.0
Decoration.Volatile 21 1.0
Decoration.Constant 22 1.0 capabilities=Kernel
Decoration.Coherent 23 1.0
Decoration.NonWritable 24 1.0
Decoration.NonReadable 25 1.0
Decoration.Uniform 26 1.0 capabilities=Shader|UniformDecoration
Decoration.UniformId 27 1.4 IdScope:Execution capabilities=Shader|UniformDecoration
Decoration.SaturatedConversion 28 1.0 capabilities=Kernel
Decoration.Stream 29 1.0 LiteralInteger:StreamNumber capabilities=GeometryStreams
Decoration.Location 30 1.0 LiteralInteger:Location capabilities=Shader
Decoration.Component 31 1.0 LiteralInteger:Component capabilities=Shader
Decoration.Index 32 1.0 LiteralInteger:Index capabilities=Shader
Decoration.Binding 33 1.0 LiteralInteger:BindingPoint capabilities=Shader
Decoration.DescriptorSet 34 1.0 LiteralInteger:DescriptorSet capabilities=Shader
Decoration.Offset 35 1.0 LiteralInteger:ByteOffset capabilities=Shader
Decoration.XfbBuffer 36 1.0 LiteralInteger:XFBBufferNumber capabilities=TransformFeedback
Decoration.XfbStride 37 1.0 LiteralInteger:XFBStride capabilities=TransformFeedback
Decoration.FuncParamAttr 38 1.0 FunctionParameterAttribute capabilities=Kernel
Decoration.FPRoundingMode 39 1.0 FPRoundingMode:FloatingPointRoundingMode
Decoration.FPFastMathMode 40 1.0 FPFastMathMode:FastMathMode capabilities=Kernel|FloatControls2
Decoration.LinkageAttributes 41 1.0 LiteralString:Name LinkageType capabilities=Linkage
Decoration.NoContraction 42 1.0 capabilities=Shader
Decoration.InputAttachmentIndex 43 1.0 LiteralInteger:AttachmentIndex capabilities=InputAttachment
Decoration.Alignment 44 1.0 LiteralInteger:Alignment capabilities=Kernel
Decoration.MaxByteOffset 45 1.1 LiteralInteger:MaxByteOffset capabilities=Addresses
Decoration.AlignmentId 46 1.2 IdRef:Alignment capabilities=Kernel
Decoration.MaxByteOffsetId 47 1.2 IdRef:MaxByteOffset capabilities=Addresses
Decoration.SaturatedToLargestFloat8NormalConversionEXT 4216 None capabilities=Float8EXT
Decoration.NoSignedWrap 4469 1.4 extensions=SPV_KHR_no_integer_wrap_decoration
Decoration.NoUnsignedWrap 4470 1.4 extensions=SPV_KHR_no_integer_wrap_decoration
Decoration.WeightTextureQCOM 4487 None extensions=SPV_QCOM_image_processing
Decoration.BlockMatchTextureQCOM 4488 None extensions=SPV_QCOM_image_processing
Decoration.BlockMatchSamplerQCOM 4499 None extensions=SPV_QCOM_image_processing2
Decoration.ExplicitInterpAMD 4999 None extensions=SPV_AMD_shader_explicit_vertex_parameter
Decoration.NodeSharesPayloadLimitsWithAMDX 5019 None IdRef:PayloadType capabilities=ShaderEnqueueAMDX
Decoration.NodeMaxPayloadsAMDX 5020 None IdRef:MaxNumberOfPayloads capabilities=ShaderEnqueueAMDX
Decoration.TrackFinishWritingAMDX 5078 None capabilities=ShaderEnqueueAMDX
Decoration.PayloadNodeNameAMDX 5091 None IdRef:NodeName capabilities=ShaderEnqueueAMDX
Decoration.PayloadNodeBaseIndexAMDX 5098 None IdRef:BaseIndex capabilities=ShaderEnqueueAMDX
Decoration.PayloadNodeSparseArrayAMDX 5099 None capabilities=ShaderEnqueueAMDX
Decoration.PayloadNodeArraySizeAMDX 5100 None IdRef:ArraySize capabilities=ShaderEnqueueAMDX
Decoration.PayloadDispatchIndirectAMDX 5105 None capabilities=ShaderEnqueueAMDX
Decoration.OverrideCoverageNV 5248 None capabilities=SampleMaskOverrideCoverageNV extensions=SPV_NV_sample_mask_override_coverage
Decoration.PassthroughNV 5250 None capabilities=GeometryShaderPassthroughNV extensions=SPV_NV_geometry_shader_passthrough
Decoration.ViewportRelativeNV 5252 None capabilities=ShaderViewportMaskNV
Decoration.SecondaryViewportRelativeNV 5256 None LiteralInteger:Offset capabilities=ShaderStereoViewNV extensions=SPV_NV_stereo_view_rendering
Decoration.PerPrimitiveEXT 5271 None capabilities=MeshShadingNV|MeshShadingEXT extensions=SPV_NV_mesh_shader|SPV_EXT_mesh_shader
Decoration.PerPrimitiveNV = Decoration.PerPrimitiveEXT
Decoration.PerViewNV 5272 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
Decoration.PerTaskNV 5273 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
Decoration.PerVertexKHR 5285 None capabilities=FragmentBarycentricKHR extensions=SPV_NV_fragment_shader_barycentric|SPV_KHR_fragment_shader_barycentric
Decoration.PerVertexNV = Decoration.PerVertexKHR
Decoration.NonUniform 5300 1.5 capabilities=ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Decoration.NonUniformEXT = Decoration.NonUniform
Decoration.RestrictPointer 5355 1.5 capabilities=PhysicalStorageBufferAddresses extensions=SPV_EXT_physical_storage_buffer|SPV_KHR_physical_storage_buffer
Decoration.RestrictPointerEXT = Decoration.RestrictPointer
Decoration.AliasedPointer 5356 1.5 capabilities=PhysicalStorageBufferAddresses extensions=SPV_EXT_physical_storage_buffer|SPV_KHR_physical_storage_buffer
Decoration.AliasedPointerEXT = Decoration.AliasedPointer
Decoration.HitObjectShaderRecordBufferNV 5386 None capabilities=ShaderInvocationReorderNV
Decoration.HitObjectShaderRecordBufferEXT 5389 None capabilities=ShaderInvocationReorderEXT
Decoration.BindlessSamplerNV 5398 None capabilities=BindlessTextureNV
Decoration.BindlessImageNV 5399 None capabilities=BindlessTextureNV
Decoration.BoundSamplerNV 5400 None capabilities=BindlessTextureNV
Decoration.BoundImageNV 5401 None capabilities=BindlessTextureNV
Decoration.SIMTCallINTEL 5599 None LiteralInteger:N capabilities=VectorComputeINTEL
Decoration.ReferencedIndirectlyINTEL 5602 None capabilities=IndirectReferencesINTEL extensions=SPV_INTEL_function_pointers
Decoration.ClobberINTEL 5607 None LiteralString:Register capabilities=AsmINTEL
Decoration.SideEffectsINTEL 5608 None capabilities=AsmINTEL
Decoration.VectorComputeVariableINTEL 5624 None capabilities=VectorComputeINTEL
Decoration.FuncParamIOKindINTEL 5625 None LiteralInteger:Kind capabilities=VectorComputeINTEL
Decoration.VectorComputeFunctionINTEL 5626 None capabilities=VectorComputeINTEL
Decoration.StackCallINTEL 5627 None capabilities=VectorComputeINTEL
Decoration.GlobalVariableOffsetINTEL 5628 None LiteralInteger:Offset capabilities=VectorComputeINTEL
Decoration.CounterBuffer 5634 1.4 IdRef:CounterBuffer extensions=SPV_GOOGLE_hlsl_functionality1
Decoration.HlslCounterBufferGOOGLE = Decoration.CounterBuffer
Decoration.UserSemantic 5635 1.4 LiteralString:Semantic extensions=SPV_GOOGLE_hlsl_functionality1
Decoration.HlslSemanticGOOGLE = Decoration.UserSemantic
Decoration.UserTypeGOOGLE 5636 None LiteralString:UserType extensions=SPV_GOOGLE_user_type
Decoration.FunctionRoundingModeINTEL 5822 None LiteralInteger:TargetWidth FPRoundingMode capabilities=FunctionFloatControlINTEL
Decoration.FunctionDenormModeINTEL 5823 None LiteralInteger:TargetWidth FPDenormMode capabilities=FunctionFloatControlINTEL
Decoration.RegisterALTERA 5825 None capabilities=FPGAMemoryAttributesALTERA
Decoration.RegisterINTEL = Decoration.RegisterALTERA
Decoration.MemoryALTERA 5826 None LiteralString:MemoryType capabilities=FPGAMemoryAttributesALTERA
Decoration.MemoryINTEL = Decoration.MemoryALTERA
Decoration.NumbanksALTERA 5827 None LiteralInteger:Banks capabilities=FPGAMemoryAttributesALTERA
Decoration.NumbanksINTEL = Decoration.NumbanksALTERA
Decoration.BankwidthALTERA 5828 None LiteralInteger:BankWidth capabilities=FPGAMemoryAttributesALTERA
Decoration.BankwidthINTEL = Decoration.BankwidthALTERA
Decoration.MaxPrivateCopiesALTERA 5829 None LiteralInteger:MaximumCopies capabilities=FPGAMemoryAttributesALTERA
Decoration.MaxPrivateCopiesINTEL = Decoration.MaxPrivateCopiesALTERA
Decoration.SinglepumpALTERA 5830 None capabilities=FPGAMemoryAttributesALTERA
Decoration.SinglepumpINTEL = Decoration.SinglepumpALTERA
Decoration.DoublepumpALTERA 5831 None capabilities=FPGAMemoryAttributesALTERA
Decoration.DoublepumpINTEL = Decoration.DoublepumpALTERA
Decoration.MaxReplicatesALTERA 5832 None LiteralInteger:MaximumReplicates capabilities=FPGAMemoryAttributesALTERA
Decoration.MaxReplicatesINTEL = Decoration.MaxReplicatesALTERA
Decoration.SimpleDualPortALTERA 5833 None capabilities=FPGAMemoryAttributesALTERA
Decoration.SimpleDualPortINTEL = Decoration.SimpleDualPortALTERA
Decoration.MergeALTERA 5834 None LiteralString:MergeKey LiteralString:MergeType capabilities=FPGAMemoryAttributesALTERA
Decoration.MergeINTEL = Decoration.MergeALTERA
Decoration.BankBitsALTERA 5835 None LiteralInteger*:BankBits capabilities=FPGAMemoryAttributesALTERA
Decoration.BankBitsINTEL = Decoration.BankBitsALTERA
Decoration.ForcePow2DepthALTERA 5836 None LiteralInteger:ForceKey capabilities=FPGAMemoryAttributesALTERA
Decoration.ForcePow2DepthINTEL = Decoration.ForcePow2DepthALTERA
Decoration.StridesizeALTERA 5883 None LiteralInteger:StrideSize capabilities=FPGAMemoryAttributesALTERA
Decoration.StridesizeINTEL = Decoration.StridesizeALTERA
Decoration.WordsizeALTERA 5884 None LiteralInteger:WordSize capabilities=FPGAMemoryAttributesALTERA
Decoration.WordsizeINTEL = Decoration.WordsizeALTERA
Decoration.TrueDualPortALTERA 5885 None capabilities=FPGAMemoryAttributesALTERA
Decoration.TrueDualPortINTEL = Decoration.TrueDualPortALTERA
Decoration.BurstCoalesceALTERA 5899 None capabilities=FPGAMemoryAccessesALTERA
Decoration.BurstCoalesceINTEL = Decoration.BurstCoalesceALTERA
Decoration.CacheSizeALTERA 5900 None LiteralInteger:CacheSizeInBytes capabilities=FPGAMemoryAccessesALTERA
Decoration.CacheSizeINTEL = Decoration.CacheSizeALTERA
Decoration.DontStaticallyCoalesceALTERA 5901 None capabilities=FPGAMemoryAccessesALTERA
Decoration.DontStaticallyCoalesceINTEL = Decoration.DontStaticallyCoalesceALTERA
Decoration.PrefetchALTERA 5902 None LiteralInteger:PrefetcherSizeInBytes capabilities=FPGAMemoryAccessesALTERA
Decoration.PrefetchINTEL = Decoration.PrefetchALTERA
Decoration.StallEnableALTERA 5905 None capabilities=FPGAClusterAttributesALTERA
Decoration.StallEnableINTEL = Decoration.StallEnableALTERA
Decoration.FuseLoopsInFunctionALTERA 5907 None capabilities=LoopFuseALTERA
Decoration.FuseLoopsInFunctionINTEL = Decoration.FuseLoopsInFunctionALTERA
Decoration.MathOpDSPModeALTERA 5909 None LiteralInteger:Mode LiteralInteger:Propagate capabilities=FPGADSPControlALTERA
Decoration.MathOpDSPModeINTEL = Decoration.MathOpDSPModeALTERA
Decoration.AliasScopeINTEL 5914 None IdRef:AliasingScopesList capabilities=MemoryAccessAliasingINTEL
Decoration.NoAliasINTEL 5915 None IdRef:AliasingScopesList capabilities=MemoryAccessAliasingINTEL
Decoration.InitiationIntervalALTERA 5917 None LiteralInteger:Cycles capabilities=FPGAInvocationPipeliningAttributesALTERA
Decoration.InitiationIntervalINTEL = Decoration.InitiationIntervalALTERA
Decoration.MaxConcurrencyALTERA 5918 None LiteralInteger:Invocations capabilities=FPGAInvocationPipeliningAttributesALTERA
Decoration.MaxConcurrencyINTEL = Decoration.MaxConcurrencyALTERA
Decoration.PipelineEnableALTERA 5919 None LiteralInteger:Enable capabilities=FPGAInvocationPipeliningAttributesALTERA
Decoration.PipelineEnableINTEL = Decoration.PipelineEnableALTERA
Decoration.BufferLocationALTERA 5921 None LiteralInteger:BufferLocationID capabilities=FPGABufferLocationALTERA
Decoration.BufferLocationINTEL = Decoration.BufferLocationALTERA
Decoration.IOPipeStorageALTERA 5944 None LiteralInteger:IOPipeID capabilities=IOPipesALTERA
Decoration.IOPipeStorageINTEL = Decoration.IOPipeStorageALTERA
Decoration.FunctionFloatingPointModeINTEL 6080 None LiteralInteger:TargetWidth FPOperationMode capabilities=FunctionFloatControlINTEL
Decoration.SingleElementVectorINTEL 6085 None capabilities=VectorComputeINTEL
Decoration.VectorComputeCallableFunctionINTEL 6087 None capabilities=VectorComputeINTEL
Decoration.MediaBlockIOINTEL 6140 None capabilities=VectorComputeINTEL
Decoration.StallFreeALTERA 6151 None capabilities=FPGAClusterAttributesV2ALTERA
Decoration.StallFreeINTEL = Decoration.StallFreeALTERA
Decoration.FPMaxErrorDecorationINTEL 6170 None LiteralFloat:MaxError capabilities=FPMaxErrorINTEL
Decoration.LatencyControlLabelALTERA 6172 None LiteralInteger:LatencyLabel capabilities=FPGALatencyControlALTERA
Decoration.LatencyControlLabelINTEL = Decoration.LatencyControlLabelALTERA
Decoration.LatencyControlConstraintALTERA 6173 None LiteralInteger:RelativeTo LiteralInteger:ControlType LiteralInteger:RelativeCycle capabilities=FPGALatencyControlALTERA
Decoration.LatencyControlConstraintINTEL = Decoration.LatencyControlConstraintALTERA
Decoration.ConduitKernelArgumentALTERA 6175 None capabilities=FPGAArgumentInterfacesALTERA
Decoration.ConduitKernelArgumentINTEL = Decoration.ConduitKernelArgumentALTERA
Decoration.RegisterMapKernelArgumentALTERA 6176 None capabilities=FPGAArgumentInterfacesALTERA
Decoration.RegisterMapKernelArgumentINTEL = Decoration.RegisterMapKernelArgumentALTERA
Decoration.MMHostInterfaceAddressWidthALTERA 6177 None LiteralInteger:AddressWidth capabilities=FPGAArgumentInterfacesALTERA
Decoration.MMHostInterfaceAddressWidthINTEL = Decoration.MMHostInterfaceAddressWidthALTERA
Decoration.MMHostInterfaceDataWidthALTERA 6178 None LiteralInteger:DataWidth capabilities=FPGAArgumentInterfacesALTERA
Decoration.MMHostInterfaceDataWidthINTEL = Decoration.MMHostInterfaceDataWidthALTERA
Decoration.MMHostInterfaceLatencyALTERA 6179 None LiteralInteger:Latency capabilities=FPGAArgumentInterfacesALTERA
Decoration.MMHostInterfaceLatencyINTEL = Decoration.MMHostInterfaceLatencyALTERA
Decoration.MMHostInterfaceReadWriteModeALTERA 6180 None AccessQualifier:ReadWriteMode capabilities=FPGAArgumentInterfacesALTERA
Decoration.MMHostInterfaceReadWriteModeINTEL = Decoration.MMHostInterfaceReadWriteModeALTERA
Decoration.MMHostInterfaceMaxBurstALTERA 6181 None LiteralInteger:MaxBurstCount capabilities=FPGAArgumentInterfacesALTERA
Decoration.MMHostInterfaceMaxBurstINTEL = Decoration.MMHostInterfaceMaxBurstALTERA
Decoration.MMHostInterfaceWaitRequestALTERA 6182 None LiteralInteger:Waitrequest capabilities=FPGAArgumentInterfacesALTERA
Decoration.MMHostInterfaceWaitRequestINTEL = Decoration.MMHostInterfaceWaitRequestALTERA
Decoration.StableKernelArgumentALTERA 6183 None capabilities=FPGAArgumentInterfacesALTERA
Decoration.StableKernelArgumentINTEL = Decoration.StableKernelArgumentALTERA
Decoration.HostAccessINTEL 6188 None HostAccessQualifier:Access LiteralString:Name capabilities=GlobalVariableHostAccessINTEL
Decoration.InitModeALTERA 6190 None InitializationModeQualifier:Trigger capabilities=GlobalVariableFPGADecorationsALTERA
Decoration.InitModeINTEL = Decoration.InitModeALTERA
Decoration.ImplementInRegisterMapALTERA 6191 None LiteralInteger:Value capabilities=GlobalVariableFPGADecorationsALTERA
Decoration.ImplementInRegisterMapINTEL = Decoration.ImplementInRegisterMapALTERA
Decoration.ConditionalINTEL 6247 None IdRef:Condition capabilities=SpecConditionalINTEL
Decoration.CacheControlLoadINTEL 6442 None LiteralInteger:CacheLevel LoadCacheControl:CacheControl capabilities=CacheControlsINTEL
Decoration.CacheControlStoreINTEL 6443 None LiteralInteger:CacheLevel StoreCacheControl:CacheControl capabilities=CacheControlsINTEL
BuiltIn.Position 0 1.0 capabilities=Shader
BuiltIn.PointSize 1 1.0 capabilities=Shader
BuiltIn.ClipDistance 3 1.0 capabilities=ClipDistance
BuiltIn.CullDistance 4 1.0 capabilities=CullDistance
BuiltIn.VertexId 5 1.0 capabilities=Shader
BuiltIn.InstanceId 6 1.0 capabilities=Shader
BuiltIn.PrimitiveId 7 1.0 capabilities=Geometry|Tessellation|RayTracingNV|RayTracingKHR|MeshShadingNV|MeshShadingEXT
BuiltIn.InvocationId 8 1.0 capabilities=Geometry|Tessellation
BuiltIn.Layer 9 1.0 capabilities=Geometry|ShaderLayer|ShaderViewportIndexLayerEXT|MeshShadingNV|MeshShadingEXT
BuiltIn.ViewportIndex 10 1.0 capabilities=MultiViewport|ShaderViewportIndex|ShaderViewportIndexLayerEXT|MeshShadingNV|MeshShadingEXT
BuiltIn.TessLevelOuter 11 1.0 capabilities=Tessellation
BuiltIn.TessLevelInner 12 1.0 capabilities=Tessellation
BuiltIn.TessCoord 13 1.0 capabilities=Tessellation
BuiltIn.PatchVertices 14 1.0 capabilities=Tessellation
BuiltIn.FragCoord 15 1.0 capabilities=Shader
BuiltIn.PointCoord 16 1.0 capabilities=Shader
BuiltIn.FrontFacing 17 1.0 capabilities=Shader
BuiltIn.SampleId 18 1.0 capabilities=SampleRateShading
BuiltIn.SamplePosition 19 1.0 capabilities=SampleRateShading
BuiltIn.SampleMask 20 1.0 capabilities=Shader
BuiltIn.FragDepth 22 1.0 capabilities=Shader
BuiltIn.HelperInvocation 23 1.0 capabilities=Shader
BuiltIn.NumWorkgroups 24 1.0
BuiltIn.WorkgroupSize 25 1.0
BuiltIn.WorkgroupId 26 1.0
BuiltIn.LocalInvocationId 27 1.0
BuiltIn.GlobalInvocationId 28 1.0
BuiltIn.LocalInvocationIndex 29 1.0
BuiltIn.WorkDim 30 1.0 capabilities=Kernel
BuiltIn.GlobalSize 31 1.0 capabilities=Kernel
BuiltIn.EnqueuedWorkgroupSize 32 1.0 capabilities=Kernel
BuiltIn.GlobalOffset 33 1.0 capabilities=Kernel
BuiltIn.GlobalLinearId 34 1.0 capabilities=Kernel
BuiltIn.SubgroupSize 36 1.0 capabilities=Kernel|GroupNonUniform|SubgroupBallotKHR
BuiltIn.SubgroupMaxSize 37 1.0 capabilities=Kernel
BuiltIn.NumSubgroups 38 1.0 capabilities=Kernel|GroupNonUniform
BuiltIn.NumEnqueuedSubgroups 39 1.0 capabilities=Kernel
BuiltIn.SubgroupId 40 1.0 capabilities=Kernel|GroupNonUniform
BuiltIn.SubgroupLocalInvocationId 41 1.0 capabilities=Kernel|GroupNonUniform|SubgroupBallotKHR
BuiltIn.VertexIndex 42 1.0 capabilities=Shader
BuiltIn.InstanceIndex 43 1.0 capabilities=Shader
BuiltIn.CoreIDARM 4160 1.0 capabilities=CoreBuiltinsARM
BuiltIn.CoreCountARM 4161 1.0 capabilities=CoreBuiltinsARM
BuiltIn.CoreMaxIDARM 4162 1.0 capabilities=CoreBuiltinsARM
BuiltIn.WarpIDARM 4163 1.0 capabilities=CoreBuiltinsARM
BuiltIn.WarpMaxIDARM 4164 1.0 capabilities=CoreBuiltinsARM
BuiltIn.SubgroupEqMask 4416 1.3 capabilities=SubgroupBallotKHR|GroupNonUniformBallot extensions=SPV_KHR_shader_ballot
BuiltIn.SubgroupEqMaskKHR = BuiltIn.SubgroupEqMask
BuiltIn.SubgroupGeMask 4417 1.3 capabilities=SubgroupBallotKHR|GroupNonUniformBallot extensions=SPV_KHR_shader_ballot
BuiltIn.SubgroupGeMaskKHR = BuiltIn.SubgroupGeMask
BuiltIn.SubgroupGtMask 4418 1.3 capabilities=SubgroupBallotKHR|GroupNonUniformBallot extensions=SPV_KHR_shader_ballot
BuiltIn.SubgroupGtMaskKHR = BuiltIn.SubgroupGtMask
BuiltIn.SubgroupLeMask 4419 1.3 capabilities=SubgroupBallotKHR|GroupNonUniformBallot extensions=SPV_KHR_shader_ballot
BuiltIn.SubgroupLeMaskKHR = BuiltIn.SubgroupLeMask
BuiltIn.SubgroupLtMask 4420 1.3 capabilities=SubgroupBallotKHR|GroupNonUniformBallot extensions=SPV_KHR_shader_ballot
BuiltIn.SubgroupLtMaskKHR = BuiltIn.SubgroupLtMask
BuiltIn.BaseVertex 4424 1.3 capabilities=DrawParameters extensions=SPV_KHR_shader_draw_parameters
BuiltIn.BaseInstance 4425 1.3 capabilities=DrawParameters extensions=SPV_KHR_shader_draw_parameters
BuiltIn.DrawIndex 4426 1.3 capabilities=DrawParameters|MeshShadingNV|MeshShadingEXT extensions=SPV_KHR_shader_draw_parameters|SPV_NV_mesh_shader|SPV_EXT_mesh_shader
BuiltIn.PrimitiveShadingRateKHR 4432 None capabilities=FragmentShadingRateKHR extensions=SPV_KHR_fragment_shading_rate
BuiltIn.DeviceIndex 4438 1.3 capabilities=DeviceGroup extensions=SPV_KHR_device_group
BuiltIn.ViewIndex 4440 1.3 capabilities=MultiView extensions=SPV_KHR_multiview
BuiltIn.ShadingRateKHR 4444 None capabilities=FragmentShadingRateKHR extensions=SPV_KHR_fragment_shading_rate
BuiltIn.TileOffsetQCOM 4492 None capabilities=TileShadingQCOM
BuiltIn.TileDimensionQCOM 4493 None capabilities=TileShadingQCOM
BuiltIn.TileApronSizeQCOM 4494 None capabilities=TileShadingQCOM
BuiltIn.BaryCoordNoPerspAMD 4992 None extensions=SPV_AMD_shader_explicit_vertex_parameter
BuiltIn.BaryCoordNoPerspCentroidAMD 4993 None extensions=SPV_AMD_shader_explicit_vertex_parameter
BuiltIn.BaryCoordNoPerspSampleAMD 4994 None extensions=SPV_AMD_shader_explicit_vertex_parameter
BuiltIn.BaryCoordSmoothAMD 4995 None extensions=SPV_AMD_shader_explicit_vertex_parameter
BuiltIn.BaryCoordSmoothCentroidAMD 4996 None extensions=SPV_AMD_shader_explicit_vertex_parameter
BuiltIn.BaryCoordSmoothSampleAMD 4997 None extensions=SPV_AMD_shader_explicit_vertex_parameter
BuiltIn.BaryCoordPullModelAMD 4998 None extensions=SPV_AMD_shader_explicit_vertex_parameter
BuiltIn.FragStencilRefEXT 5014 None capabilities=StencilExportEXT extensions=SPV_EXT_shader_stencil_export
BuiltIn.RemainingRecursionLevelsAMDX 5021 None capabilities=ShaderEnqueueAMDX
BuiltIn.ShaderIndexAMDX 5073 None capabilities=ShaderEnqueueAMDX
BuiltIn.ViewportMaskNV 5253 None capabilities=ShaderViewportMaskNV|MeshShadingNV extensions=SPV_NV_viewport_array2|SPV_NV_mesh_shader
BuiltIn.SecondaryPositionNV 5257 None capabilities=ShaderStereoViewNV extensions=SPV_NV_stereo_view_rendering
BuiltIn.SecondaryViewportMaskNV 5258 None capabilities=ShaderStereoViewNV extensions=SPV_NV_stereo_view_rendering
BuiltIn.PositionPerViewNV 5261 None capabilities=PerViewAttributesNV|MeshShadingNV extensions=SPV_NVX_multiview_per_view_attributes|SPV_NV_mesh_shader
BuiltIn.ViewportMaskPerViewNV 5262 None capabilities=PerViewAttributesNV|MeshShadingNV extensions=SPV_NVX_multiview_per_view_attributes|SPV_NV_mesh_shader
BuiltIn.FullyCoveredEXT 5264 None capabilities=FragmentFullyCoveredEXT extensions=SPV_EXT_fragment_fully_covered
BuiltIn.TaskCountNV 5274 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.PrimitiveCountNV 5275 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.PrimitiveIndicesNV 5276 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.ClipDistancePerViewNV 5277 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.CullDistancePerViewNV 5278 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.LayerPerViewNV 5279 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.MeshViewCountNV 5280 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.MeshViewIndicesNV 5281 None capabilities=MeshShadingNV extensions=SPV_NV_mesh_shader
BuiltIn.BaryCoordKHR 5286 None capabilities=FragmentBarycentricKHR extensions=SPV_NV_fragment_shader_barycentric|SPV_KHR_fragment_shader_barycentric
BuiltIn.BaryCoordNV = BuiltIn.BaryCoordKHR
BuiltIn.BaryCoordNoPerspKHR 5287 None capabilities=FragmentBarycentricKHR extensions=SPV_NV_fragment_shader_barycentric|SPV_KHR_fragment_shader_barycentric
BuiltIn.BaryCoordNoPerspNV = BuiltIn.BaryCoordNoPerspKHR
BuiltIn.FragSizeEXT 5292 None capabilities=FragmentDensityEXT extensions=SPV_EXT_fragment_invocation_density|SPV_NV_shading_rate
BuiltIn.FragmentSizeNV = BuiltIn.FragSizeEXT
BuiltIn.FragInvocationCountEXT 5293 None capabilities=FragmentDensityEXT extensions=SPV_EXT_fragment_invocation_density|SPV_NV_shading_rate
BuiltIn.InvocationsPerPixelNV = BuiltIn.FragInvocationCountEXT
BuiltIn.PrimitivePointIndicesEXT 5294 None capabilities=MeshShadingEXT extensions=SPV_EXT_mesh_shader
BuiltIn.PrimitiveLineIndicesEXT 5295 None capabilities=MeshShadingEXT extensions=SPV_EXT_mesh_shader
BuiltIn.PrimitiveTriangleIndicesEXT 5296 None capabilities=MeshShadingEXT extensions=SPV_EXT_mesh_shader
BuiltIn.CullPrimitiveEXT 5299 None capabilities=MeshShadingEXT extensions=SPV_EXT_mesh_shader
BuiltIn.LaunchIdKHR 5319 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.LaunchIdNV = BuiltIn.LaunchIdKHR
BuiltIn.LaunchSizeKHR 5320 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.LaunchSizeNV = BuiltIn.LaunchSizeKHR
BuiltIn.WorldRayOriginKHR 5321 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.WorldRayOriginNV = BuiltIn.WorldRayOriginKHR
BuiltIn.WorldRayDirectionKHR 5322 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.WorldRayDirectionNV = BuiltIn.WorldRayDirectionKHR
BuiltIn.ObjectRayOriginKHR 5323 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.ObjectRayOriginNV = BuiltIn.ObjectRayOriginKHR
BuiltIn.ObjectRayDirectionKHR 5324 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.ObjectRayDirectionNV = BuiltIn.ObjectRayDirectionKHR
BuiltIn.RayTminKHR 5325 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.RayTminNV = BuiltIn.RayTminKHR
BuiltIn.RayTmaxKHR 5326 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.RayTmaxNV = BuiltIn.RayTmaxKHR
BuiltIn.InstanceCustomIndexKHR 5327 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.InstanceCustomIndexNV = BuiltIn.InstanceCustomIndexKHR
BuiltIn.ObjectToWorldKHR 5330 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.ObjectToWorldNV = BuiltIn.ObjectToWorldKHR
BuiltIn.WorldToObjectKHR 5331 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.WorldToObjectNV = BuiltIn.WorldToObjectKHR
BuiltIn.HitTNV 5332 None capabilities=RayTracingNV extensions=SPV_NV_ray_tracing
BuiltIn.HitKindKHR 5333 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.HitKindNV = BuiltIn.HitKindKHR
BuiltIn.CurrentRayTimeNV 5334 None capabilities=RayTracingMotionBlurNV extensions=SPV_NV_ray_tracing_motion_blur
BuiltIn.HitTriangleVertexPositionsKHR 5335 None capabilities=RayTracingPositionFetchKHR
BuiltIn.HitMicroTriangleVertexPositionsNV 5337 None capabilities=RayTracingDisplacementMicromapNV
BuiltIn.HitMicroTriangleVertexBarycentricsNV 5344 None capabilities=RayTracingDisplacementMicromapNV
BuiltIn.IncomingRayFlagsKHR 5351 None capabilities=RayTracingNV|RayTracingKHR extensions=SPV_NV_ray_tracing|SPV_KHR_ray_tracing
BuiltIn.IncomingRayFlagsNV = BuiltIn.IncomingRayFlagsKHR
BuiltIn.RayGeometryIndexKHR 5352 None capabilities=RayTracingKHR extensions=SPV_KHR_ray_tracing
BuiltIn.HitIsSphereNV 5359 None capabilities=RayTracingSpheresGeometryNV extensions=SPV_NV_linear_swept_spheres
BuiltIn.HitIsLSSNV 5360 None capabilities=RayTracingLinearSweptSpheresGeometryNV extensions=SPV_NV_linear_swept_spheres
BuiltIn.HitSpherePositionNV 5361 None capabilities=RayTracingSpheresGeometryNV extensions=SPV_NV_linear_swept_spheres
BuiltIn.WarpsPerSMNV 5374 None capabilities=ShaderSMBuiltinsNV extensions=SPV_NV_shader_sm_builtins
BuiltIn.SMCountNV 5375 None capabilities=ShaderSMBuiltinsNV extensions=SPV_NV_shader_sm_builtins
BuiltIn.WarpIDNV 5376 None capabilities=ShaderSMBuiltinsNV extensions=SPV_NV_shader_sm_builtins
BuiltIn.SMIDNV 5377 None capabilities=ShaderSMBuiltinsNV extensions=SPV_NV_shader_sm_builtins
BuiltIn.HitLSSPositionsNV 5396 None capabilities=RayTracingLinearSweptSpheresGeometryNV extensions=SPV_NV_linear_swept_spheres
BuiltIn.HitKindFrontFacingMicroTriangleNV 5405 None capabilities=RayTracingDisplacementMicromapNV
BuiltIn.HitKindBackFacingMicroTriangleNV 5406 None capabilities=RayTracingDisplacementMicromapNV
BuiltIn.HitSphereRadiusNV 5420 None capabilities=RayTracingSpheresGeometryNV extensions=SPV_NV_linear_swept_spheres
BuiltIn.HitLSSRadiiNV 5421 None capabilities=RayTracingLinearSweptSpheresGeometryNV extensions=SPV_NV_linear_swept_spheres
BuiltIn.ClusterIDNV 5436 None capabilities=RayTracingClusterAccelerationStructureNV extensions=SPV_NV_cluster_acceleration_structure
BuiltIn.CullMaskKHR 6021 None capabilities=RayCullMaskKHR extensions=SPV_KHR_ray_cull_mask
Scope.CrossDevice 0 1.0
Scope.Device 1 1.0
Scope.Workgroup 2 1.0
Scope.Subgroup 3 1.0
Scope.Invocation 4 1.0
Scope.QueueFamily 5 1.5 capabilities=VulkanMemoryModel
Scope.QueueFamilyKHR = Scope.QueueFamily
Scope.ShaderCallKHR 6 None capabilities=RayTracingKHR
GroupOperation.Reduce 0 1.0 capabilities=Kernel|GroupNonUniformArithmetic|GroupNonUniformBallot
GroupOperation.InclusiveScan 1 1.0 capabilities=Kernel|GroupNonUniformArithmetic|GroupNonUniformBallot
GroupOperation.ExclusiveScan 2 1.0 capabilities=Kernel|GroupNonUniformArithmetic|GroupNonUniformBallot
GroupOperation.ClusteredReduce 3 1.3 capabilities=GroupNonUniformClustered
GroupOperation.PartitionedReduceNV 6 None capabilities=GroupNonUniformPartitionedNV extensions=SPV_NV_shader_subgroup_partitioned
GroupOperation.PartitionedInclusiveScanNV 7 None capabilities=GroupNonUniformPartitionedNV extensions=SPV_NV_shader_subgroup_partitioned
GroupOperation.PartitionedExclusiveScanNV 8 None capabilities=GroupNonUniformPartitionedNV extensions=SPV_NV_shader_subgroup_partitioned
KernelEnqueueFlags.NoWait 0 1.0 capabilities=Kernel
KernelEnqueueFlags.WaitKernel 1 1.0 capabilities=Kernel
KernelEnqueueFlags.WaitWorkGroup 2 1.0 capabilities=Kernel
Capability.Matrix 0 1.0
Capability.Shader 1 1.0 capabilities=Matrix
Capability.Geometry 2 1.0 capabilities=Shader
Capability.Tessellation 3 1.0 capabilities=Shader
Capability.Addresses 4 1.0
Capability.Linkage 5 1.0
Capability.Kernel 6 1.0
Capability.Vector16 7 1.0 capabilities=Kernel
Capability.Float16Buffer 8 1.0 capabilities=Kernel
Capability.Float16 9 1.0
Capability.Float64 10 1.0
Capability.Int64 11 1.0
Capability.Int64Atomics 12 1.0 capabilities=Int64
Capability.ImageBasic 13 1.0 capabilities=Kernel
Capability.ImageReadWrite 14 1.0 capabilities=ImageBasic
Capability.ImageMipmap 15 1.0 capabilities=ImageBasic
Capability.Pipes 17 1.0 capabilities=Kernel
Capability.Groups 18 1.0 extensions=SPV_AMD_shader_ballot
Capability.DeviceEnqueue 19 1.0 capabilities=Kernel
Capability.LiteralSampler 20 1.0 capabilities=Kernel
Capability.AtomicStorage 21 1.0 capabilities=Shader
Capability.Int16 22 1.0
Capability.TessellationPointSize 23 1.0 capabilities=Tessellation
Capability.GeometryPointSize 24 1.0 capabilities=Geometry
Capability.ImageGatherExtended 25 1.0 capabilities=Shader
Capability.StorageImageMultisample 27 1.0 capabilities=Shader
Capability.UniformBufferArrayDynamicIndexing 28 1.0 capabilities=Shader
Capability.SampledImageArrayDynamicIndexing 29 1.0 capabilities=Shader
Capability.StorageBufferArrayDynamicIndexing 30 1.0 capabilities=Shader
Capability.StorageImageArrayDynamicIndexing 31 1.0 capabilities=Shader
Capability.ClipDistance 32 1.0 capabilities=Shader
Capability.CullDistance 33 1.0 capabilities=Shader
Capability.ImageCubeArray 34 1.0 capabilities=SampledCubeArray
Capability.SampleRateShading 35 1.0 capabilities=Shader
Capability.ImageRect 36 1.0 capabilities=SampledRect
Capability.SampledRect 37 1.0 capabilities=Shader
Capability.GenericPointer 38 1.0 capabilities=Addresses
Capability.Int8 39 1.0
Capability.InputAttachment 40 1.0 capabilities=Shader
Capability.SparseResidency 41 1.0 capabilities=Shader
Capability.MinLod 42 1.0 capabilities=Shader
Capability.Sampled1D 43 1.0
Capability.Image1D 44 1.0 capabilities=Sampled1D
Capability.SampledCubeArray 45 1.0 capabilities=Shader
Capability.SampledBuffer 46 1.0
Capability.ImageBuffer 47 1.0 capabilities=SampledBuffer
Capability.ImageMSArray 48 1.0 capabilities=Shader
Capability.StorageImageExtendedFormats 49 1.0 capabilities=Shader
Capability.ImageQuery 50 1.0 capabilities=Shader
Capability.DerivativeControl 51 1.0 capabilities=Shader
Capability.InterpolationFunction 52 1.0 capabilities=Shader
Capability.TransformFeedback 53 1.0 capabilities=Shader
Capability.GeometryStreams 54 1.0 capabilities=Geometry
Capability.StorageImageReadWithoutFormat 55 1.0 capabilities=Shader
Capability.StorageImageWriteWithoutFormat 56 1.0 capabilities=Shader
Capability.MultiViewport 57 1.0 capabilities=Geometry
Capability.SubgroupDispatch 58 1.1 capabilities=DeviceEnqueue
Capability.NamedBarrier 59 1.1 capabilities=Kernel
Capability.PipeStorage 60 1.1 capabilities=Pipes
Capability.GroupNonUniform 61 1.3
Capability.GroupNonUniformVote 62 1.3 capabilities=GroupNonUniform
Capability.GroupNonUniformArithmetic 63 1.3 capabilities=GroupNonUniform
Capability.GroupNonUniformBallot 64 1.3 capabilities=GroupNonUniform
Capability.GroupNonUniformShuffle 65 1.3 capabilities=GroupNonUniform
Capability.GroupNonUniformShuffleRelative 66 1.3 capabilities=GroupNonUniform
Capability.GroupNonUniformClustered 67 1.3 capabilities=GroupNonUniform
Capability.GroupNonUniformQuad 68 1.3 capabilities=GroupNonUniform
Capability.ShaderLayer 69 1.5
Capability.ShaderViewportIndex 70 1.5
Capability.UniformDecoration 71 1.6
Capability.CoreBuiltinsARM 4165 None extensions=SPV_ARM_core_builtins
Capability.TileImageColorReadAccessEXT 4166 None extensions=SPV_EXT_shader_tile_image
Capability.TileImageDepthReadAccessEXT 4167 None extensions=SPV_EXT_shader_tile_image
Capability.TileImageStencilReadAccessEXT 4168 None extensions=SPV_EXT_shader_tile_image
Capability.TensorsARM 4174 None extensions=SPV_ARM_tensors
Capability.StorageTensorArrayDynamicIndexingARM 4175 None extensions=SPV_ARM_tensors
Capability.StorageTensorArrayNonUniformIndexingARM 4176 None extensions=SPV_ARM_tensors
Capability.GraphARM 4191 None extensions=SPV_ARM_graph
Capability.CooperativeMatrixLayoutsARM 4201 None extensions=SPV_ARM_cooperative_matrix_layouts
Capability.Float8EXT 4212 None extensions=SPV_EXT_float8
Capability.Float8CooperativeMatrixEXT 4213 None capabilities=Float8EXT|CooperativeMatrixKHR extensions=SPV_EXT_float8
Capability.FragmentShadingRateKHR 4422 None capabilities=Shader extensions=SPV_KHR_fragment_shading_rate
Capability.SubgroupBallotKHR 4423 None extensions=SPV_KHR_shader_ballot
Capability.DrawParameters 4427 1.3 capabilities=Shader extensions=SPV_KHR_shader_draw_parameters
Capability.WorkgroupMemoryExplicitLayoutKHR 4428 None capabilities=Shader extensions=SPV_KHR_workgroup_memory_explicit_layout
Capability.WorkgroupMemoryExplicitLayout8BitAccessKHR 4429 None capabilities=WorkgroupMemoryExplicitLayoutKHR extensions=SPV_KHR_workgroup_memory_explicit_layout
Capability.WorkgroupMemoryExplicitLayout16BitAccessKHR 4430 None capabilities=WorkgroupMemoryExplicitLayoutKHR extensions=SPV_KHR_workgroup_memory_explicit_layout
Capability.SubgroupVoteKHR 4431 None extensions=SPV_KHR_subgroup_vote
Capability.StorageBuffer16BitAccess 4433 1.3 extensions=SPV_KHR_16bit_storage
Capability.StorageUniformBufferBlock16 = Capability.StorageBuffer16BitAccess
Capability.UniformAndStorageBuffer16BitAccess 4434 1.3 capabilities=StorageBuffer16BitAccess extensions=SPV_KHR_16bit_storage
Capability.StorageUniform16 = Capability.UniformAndStorageBuffer16BitAccess
Capability.StoragePushConstant16 4435 1.3 extensions=SPV_KHR_16bit_storage
Capability.StorageInputOutput16 4436 1.3 extensions=SPV_KHR_16bit_storage
Capability.DeviceGroup 4437 1.3 extensions=SPV_KHR_device_group
Capability.MultiView 4439 1.3 capabilities=Shader extensions=SPV_KHR_multiview
Capability.VariablePointersStorageBuffer 4441 1.3 capabilities=Shader extensions=SPV_KHR_variable_pointers
Capability.VariablePointers 4442 1.3 capabilities=VariablePointersStorageBuffer extensions=SPV_KHR_variable_pointers
Capability.AtomicStorageOps 4445 None capabilities=AtomicStorage extensions=SPV_KHR_shader_atomic_counter_ops
Capability.SampleMaskPostDepthCoverage 4447 None extensions=SPV_KHR_post_depth_coverage
Capability.StorageBuffer8BitAccess 4448 1.5 extensions=SPV_KHR_8bit_storage
Capability.UniformAndStorageBuffer8BitAccess 4449 1.5 capabilities=StorageBuffer8BitAccess extensions=SPV_KHR_8bit_storage
Capability.StoragePushConstant8 4450 1.5 extensions=SPV_KHR_8bit_storage
Capability.DenormPreserve 4464 1.4 extensions=SPV_KHR_float_controls
Capability.DenormFlushToZero 4465 1.4 extensions=SPV_KHR_float_controls
Capability.SignedZeroInfNanPreserve 4466 1.4 extensions=SPV_KHR_float_controls
Capability.RoundingModeRTE 4467 1.4 extensions=SPV_KHR_float_controls
Capability.RoundingModeRTZ 4468 1.4 extensions=SPV_KHR_float_controls
Capability.RayQueryProvisionalKHR 4471 None capabilities=Shader extensions=SPV_KHR_ray_query
Capability.RayQueryKHR 4472 None capabilities=Shader extensions=SPV_KHR_ray_query
Capability.UntypedPointersKHR 4473 None extensions=SPV_KHR_untyped_pointers
Capability.RayTraversalPrimitiveCullingKHR 4478 None capabilities=RayQueryKHR|RayTracingKHR extensions=SPV_KHR_ray_query|SPV_KHR_ray_tracing
Capability.RayTracingKHR 4479 None capabilities=Shader extensions=SPV_KHR_ray_tracing
Capability.TextureSampleWeightedQCOM 4484 None extensions=SPV_QCOM_image_processing
Capability.TextureBoxFilterQCOM 4485 None extensions=SPV_QCOM_image_processing
Capability.TextureBlockMatchQCOM 4486 None extensions=SPV_QCOM_image_processing
Capability.TileShadingQCOM 4495 None capabilities=Shader extensions=SPV_QCOM_tile_shading
Capability.CooperativeMatrixConversionQCOM 4496 None capabilities=CooperativeMatrixKHR extensions=SPV_QCOM_cooperative_matrix_conversion
Capability.TextureBlockMatch2QCOM 4498 None extensions=SPV_QCOM_image_processing2
Capability.Float16ImageAMD 5008 None capabilities=Shader extensions=SPV_AMD_gpu_shader_half_float_fetch
Capability.ImageGatherBiasLodAMD 5009 None capabilities=Shader extensions=SPV_AMD_texture_gather_bias_lod
Capability.FragmentMaskAMD 5010 None capabilities=Shader extensions=SPV_AMD_shader_fragment_mask
Capability.StencilExportEXT 5013 None capabilities=Shader extensions=SPV_EXT_shader_stencil_export
Capability.ImageReadWriteLodAMD 5015 None capabilities=Shader extensions=SPV_AMD_shader_image_load_store_lod
Capability.Int64ImageEXT 5016 None capabilities=Shader extensions=SPV_EXT_shader_image_int64
Capability.ShaderClockKHR 5055 None extensions=SPV_KHR_shader_clock
Capability.ShaderEnqueueAMDX 5067 None capabilities=Shader extensions=SPV_AMDX_shader_enqueue
Capability.QuadControlKHR 5087 None extensions=SPV_KHR_quad_control
Capability.Int4TypeINTEL 5112 None extensions=SPV_INTEL_int4
Capability.Int4CooperativeMatrixINTEL 5114 None capabilities=Int4TypeINTEL|CooperativeMatrixKHR extensions=SPV_INTEL_int4
Capability.BFloat16TypeKHR 5116 None extensions=SPV_KHR_bfloat16
Capability.BFloat16DotProductKHR 5117 None capabilities=BFloat16TypeKHR extensions=SPV_KHR_bfloat16
Capability.BFloat16CooperativeMatrixKHR 5118 None capabilities=BFloat16TypeKHR|CooperativeMatrixKHR extensions=SPV_KHR_bfloat16
Capability.SampleMaskOverrideCoverageNV 5249 None capabilities=SampleRateShading extensions=SPV_NV_sample_mask_override_coverage
Capability.GeometryShaderPassthroughNV 5251 None capabilities=Geometry extensions=SPV_NV_geometry_shader_passthrough
Capability.ShaderViewportIndexLayerEXT 5254 None capabilities=MultiViewport extensions=SPV_EXT_shader_viewport_index_layer|SPV_NV_viewport_array2
Capability.ShaderViewportIndexLayerNV = Capability.ShaderViewportIndexLayerEXT
Capability.ShaderViewportMaskNV 5255 None capabilities=ShaderViewportIndexLayerEXT extensions=SPV_NV_viewport_array2
Capability.ShaderStereoViewNV 5259 None capabilities=ShaderViewportMaskNV extensions=SPV_NV_stereo_view_rendering
Capability.PerViewAttributesNV 5260 None capabilities=MultiView extensions=SPV_NVX_multiview_per_view_attributes
Capability.FragmentFullyCoveredEXT 5265 None capabilities=Shader extensions=SPV_EXT_fragment_fully_covered
Capability.MeshShadingNV 5266 None capabilities=Shader extensions=SPV_NV_mesh_shader
Capability.ImageFootprintNV 5282 None extensions=SPV_NV_shader_image_footprint
Capability.MeshShadingEXT 5283 None capabilities=Shader extensions=SPV_EXT_mesh_shader
Capability.FragmentBarycentricKHR 5284 None extensions=SPV_NV_fragment_shader_barycentric|SPV_KHR_fragment_shader_barycentric
Capability.FragmentBarycentricNV = Capability.FragmentBarycentricKHR
Capability.ComputeDerivativeGroupQuadsKHR 5288 None capabilities=Shader extensions=SPV_NV_compute_shader_derivatives|SPV_KHR_compute_shader_derivatives
Capability.ComputeDerivativeGroupQuadsNV = Capability.ComputeDerivativeGroupQuadsKHR
Capability.FragmentDensityEXT 5291 None capabilities=Shader extensions=SPV_EXT_fragment_invocation_density|SPV_NV_shading_rate
Capability.ShadingRateNV = Capability.FragmentDensityEXT
Capability.GroupNonUniformPartitionedNV 5297 None extensions=SPV_NV_shader_subgroup_partitioned
Capability.ShaderNonUniform 5301 1.5 capabilities=Shader extensions=SPV_EXT_descriptor_indexing
Capability.ShaderNonUniformEXT = Capability.ShaderNonUniform
Capability.RuntimeDescriptorArray 5302 1.5 capabilities=Shader extensions=SPV_EXT_descriptor_indexing
Capability.RuntimeDescriptorArrayEXT = Capability.RuntimeDescriptorArray
Capability.InputAttachmentArrayDynamicIndexing 5303 1.5 capabilities=InputAttachment extensions=SPV_EXT_descriptor_indexing
Capability.InputAttachmentArrayDynamicIndexingEXT = Capability.InputAttachmentArrayDynamicIndexing
Capability.UniformTexelBufferArrayDynamicIndexing 5304 1.5 capabilities=SampledBuffer extensions=SPV_EXT_descriptor_indexing
Capability.UniformTexelBufferArrayDynamicIndexingEXT = Capability.UniformTexelBufferArrayDynamicIndexing
Capability.StorageTexelBufferArrayDynamicIndexing 5305 1.5 capabilities=ImageBuffer extensions=SPV_EXT_descriptor_indexing
Capability.StorageTexelBufferArrayDynamicIndexingEXT = Capability.StorageTexelBufferArrayDynamicIndexing
Capability.UniformBufferArrayNonUniformIndexing 5306 1.5 capabilities=ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Capability.UniformBufferArrayNonUniformIndexingEXT = Capability.UniformBufferArrayNonUniformIndexing
Capability.SampledImageArrayNonUniformIndexing 5307 1.5 capabilities=ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Capability.SampledImageArrayNonUniformIndexingEXT = Capability.SampledImageArrayNonUniformIndexing
Capability.StorageBufferArrayNonUniformIndexing 5308 1.5 capabilities=ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Capability.StorageBufferArrayNonUniformIndexingEXT = Capability.StorageBufferArrayNonUniformIndexing
Capability.StorageImageArrayNonUniformIndexing 5309 1.5 capabilities=ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Capability.StorageImageArrayNonUniformIndexingEXT = Capability.StorageImageArrayNonUniformIndexing
Capability.InputAttachmentArrayNonUniformIndexing 5310 1.5 capabilities=InputAttachment|ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Capability.InputAttachmentArrayNonUniformIndexingEXT = Capability.InputAttachmentArrayNonUniformIndexing
Capability.UniformTexelBufferArrayNonUniformIndexing 5311 1.5 capabilities=SampledBuffer|ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Capability.UniformTexelBufferArrayNonUniformIndexingEXT = Capability.UniformTexelBufferArrayNonUniformIndexing
Capability.StorageTexelBufferArrayNonUniformIndexing 5312 1.5 capabilities=ImageBuffer|ShaderNonUniform extensions=SPV_EXT_descriptor_indexing
Capability.StorageTexelBufferArrayNonUniformIndexingEXT = Capability.StorageTexelBufferArrayNonUniformIndexing
Capability.RayTracingPositionFetchKHR 5336 None capabilities=Shader extensions=SPV_KHR_ray_tracing_position_fetch
Capability.RayTracingNV 5340 None capabilities=Shader extensions=SPV_NV_ray_tracing
Capability.RayTracingMotionBlurNV 5341 None capabilities=Shader extensions=SPV_NV_ray_tracing_motion_blur
Capability.VulkanMemoryModel 5345 1.5 extensions=SPV_KHR_vulkan_memory_model
Capability.VulkanMemoryModelKHR = Capability.VulkanMemoryModel
Capability.VulkanMemoryModelDeviceScope 5346 1.5 extensions=SPV_KHR_vulkan_memory_model
Capability.VulkanMemoryModelDeviceScopeKHR = Capability.VulkanMemoryModelDeviceScope
Capability.PhysicalStorageBufferAddresses 5347 1.5 capabilities=Shader extensions=SPV_EXT_physical_storage_buffer|SPV_KHR_physical_storage_buffer
Capability.PhysicalStorageBufferAddressesEXT = Capability.PhysicalStorageBufferAddresses
Capability.ComputeDerivativeGroupLinearKHR 5350 None capabilities=Shader extensions=SPV_NV_compute_shader_derivatives|SPV_KHR_compute_shader_derivatives
Capability.ComputeDerivativeGroupLinearNV = Capability.ComputeDerivativeGroupLinearKHR
Capability.RayTracingProvisionalKHR 5353 None capabilities=Shader extensions=SPV_KHR_ray_tracing
Capability.CooperativeMatrixNV 5357 None capabilities=Shader extensions=SPV_NV_cooperative_matrix
Capability.FragmentShaderSampleInterlockEXT 5363 None capabilities=Shader extensions=SPV_EXT_fragment_shader_interlock
Capability.FragmentShaderShadingRateInterlockEXT 5372 None capabilities=Shader extensions=SPV_EXT_fragment_shader_interlock
Capability.ShaderSMBuiltinsNV 5373 None capabilities=Shader extensions=SPV_NV_shader_sm_builtins
Capability.FragmentShaderPixelInterlockEXT 5378 None capabilities=Shader extensions=SPV_EXT_fragment_shader_interlock
Capability.DemoteToHelperInvocation 5379 1.6 capabilities=Shader extensions=SPV_EXT_demote_to_helper_invocation
Capability.DemoteToHelperInvocationEXT = Capability.DemoteToHelperInvocation
Capability.DisplacementMicromapNV 5380 None capabilities=Shader extensions=SPV_NV_displacement_micromap
Capability.RayTracingOpacityMicromapEXT 5381 None capabilities=Shader extensions=SPV_EXT_opacity_micromap
Capability.ShaderInvocationReorderNV 5383 None capabilities=RayTracingKHR extensions=SPV_NV_shader_invocation_reorder
Capability.ShaderInvocationReorderEXT 5388 None capabilities=RayTracingKHR extensions=SPV_EXT_shader_invocation_reorder
Capability.BindlessTextureNV 5390 None extensions=SPV_NV_bindless_texture
Capability.RayQueryPositionFetchKHR 5391 None capabilities=Shader extensions=SPV_KHR_ray_tracing_position_fetch
Capability.CooperativeVectorNV 5394 None extensions=SPV_NV_cooperative_vector
Capability.AtomicFloat16VectorNV 5404 None extensions=SPV_NV_shader_atomic_fp16_vector
Capability.RayTracingDisplacementMicromapNV 5409 None capabilities=RayTracingKHR extensions=SPV_NV_displacement_micromap
Capability.RawAccessChainsNV 5414 None extensions=SPV_NV_raw_access_chains
Capability.RayTracingSpheresGeometryNV 5418 None extensions=SPV_NV_linear_swept_spheres
Capability.RayTracingLinearSweptSpheresGeometryNV 5419 None extensions=SPV_NV_linear_swept_spheres
Capability.Shader64BitIndexingEXT 5426 None extensions=SPV_EXT_shader_64bit_indexing
Capability.CooperativeMatrixReductionsNV 5430 None extensions=SPV_NV_cooperative_matrix2
Capability.CooperativeMatrixConversionsNV 5431 None extensions=SPV_NV_cooperative_matrix2
Capability.CooperativeMatrixPerElementOperationsNV 5432 None extensions=SPV_NV_cooperative_matrix2
Capability.CooperativeMatrixTensorAddressingNV 5433 None extensions=SPV_NV_cooperative_matrix2
Capability.CooperativeMatrixBlockLoadsNV 5434 None extensions=SPV_NV_cooperative_matrix2
Capability.CooperativeVectorTrainingNV 5435 None extensions=SPV_NV_cooperative_vector
Capability.RayTracingClusterAccelerationStructureNV 5437 None capabilities=RayTracingKHR extensions=SPV_NV_cluster_acceleration_structure
Capability.TensorAddressingNV 5439 None extensions=SPV_NV_tensor_addressing
Capability.SubgroupShuffleINTEL 5568 None extensions=SPV_INTEL_subgroups
Capability.SubgroupBufferBlockIOINTEL 5569 None extensions=SPV_INTEL_subgroups
Capability.SubgroupImageBlockIOINTEL 5570 None extensions=SPV_INTEL_subgroups
Capability.SubgroupImageMediaBlockIOINTEL 5579 None extensions=SPV_INTEL_media_block_io
Capability.RoundToInfinityINTEL 5582 None extensions=SPV_INTEL_float_controls2
Capability.FloatingPointModeINTEL 5583 None extensions=SPV_INTEL_float_controls2
Capability.IntegerFunctions2INTEL 5584 None extensions=SPV_INTEL_shader_integer_functions2
Capability.FunctionPointersINTEL 5603 None extensions=SPV_INTEL_function_pointers
Capability.IndirectReferencesINTEL 5604 None extensions=SPV_INTEL_function_pointers
Capability.AsmINTEL 5606 None extensions=SPV_INTEL_inline_assembly
Capability.AtomicFloat32MinMaxEXT 5612 None extensions=SPV_EXT_shader_atomic_float_min_max
Capability.AtomicFloat64MinMaxEXT 5613 None extensions=SPV_EXT_shader_atomic_float_min_max
Capability.AtomicFloat16MinMaxEXT 5616 None extensions=SPV_EXT_shader_atomic_float_min_max
Capability.VectorComputeINTEL 5617 None capabilities=VectorAnyINTEL extensions=SPV_INTEL_vector_compute
Capability.VectorAnyINTEL 5619 None extensions=SPV_INTEL_vector_compute
Capability.ExpectAssumeKHR 5629 None extensions=SPV_KHR_expect_assume
Capability.SubgroupAvcMotionEstimationINTEL 5696 None extensions=SPV_INTEL_device_side_avc_motion_estimation
Capability.SubgroupAvcMotionEstimationIntraINTEL 5697 None extensions=SPV_INTEL_device_side_avc_motion_estimation
Capability.SubgroupAvcMotionEstimationChromaINTEL 5698 None extensions=SPV_INTEL_device_side_avc_motion_estimation
Capability.VariableLengthArrayINTEL 5817 None extensions=SPV_INTEL_variable_length_array
Capability.FunctionFloatControlINTEL 5821 None extensions=SPV_INTEL_float_controls2
Capability.FPGAMemoryAttributesALTERA 5824 None extensions=SPV_ALTERA_fpga_memory_attributes|SPV_INTEL_fpga_memory_attributes
Capability.FPGAMemoryAttributesINTEL = Capability.FPGAMemoryAttributesALTERA
Capability.FPFastMathModeINTEL 5837 None capabilities=Kernel extensions=SPV_INTEL_fp_fast_math_mode
Capability.ArbitraryPrecisionIntegersALTERA 5844 None extensions=SPV_ALTERA_arbitrary_precision_integers|SPV_INTEL_arbitrary_precision_integers
Capability.ArbitraryPrecisionIntegersINTEL = Capability.ArbitraryPrecisionIntegersALTERA
Capability.ArbitraryPrecisionFloatingPointALTERA 5845 None extensions=SPV_ALTERA_arbitrary_precision_floating_point|SPV_INTEL_arbitrary_precision_floating_point
Capability.ArbitraryPrecisionFloatingPointINTEL = Capability.ArbitraryPrecisionFloatingPointALTERA
Capability.UnstructuredLoopControlsINTEL 5886 None extensions=SPV_INTEL_unstructured_loop_controls
Capability.FPGALoopControlsALTERA 5888 None extensions=SPV_ALTERA_fpga_loop_controls|SPV_INTEL_fpga_loop_controls
Capability.FPGALoopControlsINTEL = Capability.FPGALoopControlsALTERA
Capability.KernelAttributesINTEL 5892 None extensions=SPV_INTEL_kernel_attributes
Capability.FPGAKernelAttributesINTEL 5897 None extensions=SPV_INTEL_kernel_attributes
Capability.FPGAMemoryAccessesALTERA 5898 None extensions=SPV_ALTERA_fpga_memory_accesses|SPV_INTEL_fpga_memory_accesses
Capability.FPGAMemoryAccessesINTEL = Capability.FPGAMemoryAccessesALTERA
Capability.FPGAClusterAttributesALTERA 5904 None extensions=SPV_ALTERA_fpga_cluster_attributes|SPV_INTEL_fpga_cluster_attributes
Capability.FPGAClusterAttributesINTEL = Capability.FPGAClusterAttributesALTERA
Capability.LoopFuseALTERA 5906 None extensions=SPV_ALTERA_loop_fuse|SPV_INTEL_loop_fuse
Capability.LoopFuseINTEL = Capability.LoopFuseALTERA
Capability.FPGADSPControlALTERA 5908 None extensions=SPV_ALTERA_fpga_dsp_control|SPV_INTEL_fpga_dsp_control
Capability.FPGADSPControlINTEL = Capability.FPGADSPControlALTERA
Capability.MemoryAccessAliasingINTEL 5910 None extensions=SPV_INTEL_memory_access_aliasing
Capability.FPGAInvocationPipeliningAttributesALTERA 5916 None extensions=SPV_ALTERA_fpga_invocation_pipelining_attributes|SPV_INTEL_fpga_invocation_pipelining_attributes
Capability.FPGAInvocationPipeliningAttributesINTEL = Capability.FPGAInvocationPipeliningAttributesALTERA
Capability.FPGABufferLocationALTERA 5920 None extensions=SPV_ALTERA_fpga_buffer_location|SPV_INTEL_fpga_buffer_location
Capability.FPGABufferLocationINTEL = Capability.FPGABufferLocationALTERA
Capability.ArbitraryPrecisionFixedPointALTERA 5922 None extensions=SPV_ALTERA_arbitrary_precision_fixed_point|SPV_INTEL_arbitrary_precision_fixed_point
Capability.ArbitraryPrecisionFixedPointINTEL = Capability.ArbitraryPrecisionFixedPointALTERA
Capability.USMStorageClassesALTERA 5935 None extensions=SPV_ALTERA_usm_storage_classes|SPV_INTEL_usm_storage_classes
Capability.USMStorageClassesINTEL = Capability.USMStorageClassesALTERA
Capability.RuntimeAlignedAttributeALTERA 5939 None extensions=SPV_ALTERA_runtime_aligned|SPV_INTEL_runtime_aligned
Capability.RuntimeAlignedAttributeINTEL = Capability.RuntimeAlignedAttributeALTERA
Capability.IOPipesALTERA 5943 None extensions=SPV_ALTERA_io_pipes|SPV_INTEL_io_pipes
Capability.IOPipesINTEL = Capability.IOPipesALTERA
Capability.BlockingPipesALTERA 5945 None extensions=SPV_ALTERA_blocking_pipes|SPV_INTEL_blocking_pipes
Capability.BlockingPipesINTEL = Capability.BlockingPipesALTERA
Capability.FPGARegALTERA 5948 None extensions=SPV_ALTERA_fpga_reg|SPV_INTEL_fpga_reg
Capability.FPGARegINTEL = Capability.FPGARegALTERA
Capability.DotProductInputAll 6016 1.6 extensions=SPV_KHR_integer_dot_product
Capability.DotProductInputAllKHR = Capability.DotProductInputAll
Capability.DotProductInput4x8Bit 6017 1.6 capabilities=Int8 extensions=SPV_KHR_integer_dot_product
Capability.DotProductInput4x8BitKHR = Capability.DotProductInput4x8Bit
Capability.DotProductInput4x8BitPacked 6018 1.6 extensions=SPV_KHR_integer_dot_product
Capability.DotProductInput4x8BitPackedKHR = Capability.DotProductInput4x8BitPacked
Capability.DotProduct 6019 1.6 extensions=SPV_KHR_integer_dot_product
Capability.DotProductKHR = Capability.DotProduct
Capability.RayCullMaskKHR 6020 None extensions=SPV_KHR_ray_cull_mask
Capability.CooperativeMatrixKHR 6022 None extensions=SPV_KHR_cooperative_matrix
Capability.ReplicatedCompositesEXT 6024 None extensions=SPV_EXT_replicated_composites
Capability.BitInstructions 6025 None extensions=SPV_KHR_bit_instructions
Capability.GroupNonUniformRotateKHR 6026 None capabilities=GroupNonUniform extensions=SPV_KHR_subgroup_rotate
Capability.FloatControls2 6029 None extensions=SPV_KHR_float_controls2
Capability.FMAKHR 6030 None extensions=SPV_KHR_fma
Capability.AtomicFloat32AddEXT 6033 None extensions=SPV_EXT_shader_atomic_float_add
Capability.AtomicFloat64AddEXT 6034 None extensions=SPV_EXT_shader_atomic_float_add
Capability.LongCompositesINTEL 6089 None extensions=SPV_INTEL_long_composites
Capability.OptNoneEXT 6094 None extensions=SPV_EXT_optnone|SPV_INTEL_optnone
Capability.OptNoneINTEL = Capability.OptNoneEXT
Capability.AtomicFloat16AddEXT 6095 None extensions=SPV_EXT_shader_atomic_float16_add
Capability.DebugInfoModuleINTEL 6114 None extensions=SPV_INTEL_debug_module
Capability.BFloat16ConversionINTEL 6115 None extensions=SPV_INTEL_bfloat16_conversion
Capability.SplitBarrierINTEL 6141 None extensions=SPV_INTEL_split_barrier
Capability.ArithmeticFenceEXT 6144 None extensions=SPV_EXT_arithmetic_fence
Capability.FPGAClusterAttributesV2ALTERA 6150 None capabilities=FPGAClusterAttributesALTERA extensions=SPV_ALTERA_fpga_cluster_attributes|SPV_INTEL_fpga_cluster_attributes
Capability.FPGAClusterAttributesV2INTEL = Capability.FPGAClusterAttributesV2ALTERA
Capability.FPGAKernelAttributesv2INTEL 6161 None capabilities=FPGAKernelAttributesINTEL extensions=SPV_INTEL_kernel_attributes
Capability.TaskSequenceALTERA 6162 None extensions=SPV_ALTERA_task_sequence|SPV_INTEL_task_sequence
Capability.TaskSequenceINTEL = Capability.TaskSequenceALTERA
Capability.FPMaxErrorINTEL 6169 None extensions=SPV_INTEL_fp_max_error
Capability.FPGALatencyControlALTERA 6171 None extensions=SPV_ALTERA_fpga_latency_control|SPV_INTEL_fpga_latency_control
Capability.FPGALatencyControlINTEL = Capability.FPGALatencyControlALTERA
Capability.FPGAArgumentInterfacesALTERA 6174 None extensions=SPV_ALTERA_fpga_argument_interfaces|SPV_INTEL_fpga_argument_interfaces
Capability.FPGAArgumentInterfacesINTEL = Capability.FPGAArgumentInterfacesALTERA
Capability.GlobalVariableHostAccessINTEL 6187 None extensions=SPV_INTEL_global_variable_host_access
Capability.GlobalVariableFPGADecorationsALTERA 6189 None extensions=SPV_ALTERA_global_variable_fpga_decorations|SPV_INTEL_global_variable_fpga_decorations
Capability.GlobalVariableFPGADecorationsINTEL = Capability.GlobalVariableFPGADecorationsALTERA
Capability.SubgroupBufferPrefetchINTEL 6220 None extensions=SPV_INTEL_subgroup_buffer_prefetch
Capability.Subgroup2DBlockIOINTEL 6228 None extensions=SPV_INTEL_2d_block_io
Capability.Subgroup2DBlockTransformINTEL 6229 None capabilities=Subgroup2DBlockIOINTEL extensions=SPV_INTEL_2d_block_io
Capability.Subgroup2DBlockTransposeINTEL 6230 None capabilities=Subgroup2DBlockIOINTEL extensions=SPV_INTEL_2d_block_io
Capability.SubgroupMatrixMultiplyAccumulateINTEL 6236 None extensions=SPV_INTEL_subgroup_matrix_multiply_accumulate
Capability.TernaryBitwiseFunctionINTEL 6241 None extensions=SPV_INTEL_ternary_bitwise_function
Capability.UntypedVariableLengthArrayINTEL 6243 None capabilities=VariableLengthArrayINTEL|UntypedPointersKHR extensions=SPV_INTEL_variable_length_array
Capability.SpecConditionalINTEL 6245 None extensions=SPV_INTEL_function_variants
Capability.FunctionVariantsINTEL 6246 None capabilities=SpecConditionalINTEL extensions=SPV_INTEL_function_variants
Capability.PredicatedIOINTEL 6257 None extensions=SPV_INTEL_predicated_io
Capability.GroupUniformArithmeticKHR 6400 None extensions=SPV_KHR_uniform_group_instructions
Capability.TensorFloat32RoundingINTEL 6425 None extensions=SPV_INTEL_tensor_float32_conversion
Capability.MaskedGatherScatterINTEL 6427 None extensions=SPV_INTEL_masked_gather_scatter
Capability.CacheControlsINTEL 6441 None extensions=SPV_INTEL_cache_controls
Capability.RegisterLimitsINTEL 6460 None extensions=SPV_INTEL_maximum_registers
Capability.BindlessImagesINTEL 6528 None extensions=SPV_INTEL_bindless_images
RayQueryIntersection.RayQueryCandidateIntersectionKHR 0 None capabilities=RayQueryKHR
RayQueryIntersection.RayQueryCommittedIntersectionKHR 1 None capabilities=RayQueryKHR
RayQueryCommittedIntersectionType.RayQueryCommittedIntersectionNoneKHR 0 None capabilities=RayQueryKHR
RayQueryCommittedIntersectionType.RayQueryCommittedIntersectionTriangleKHR 1 None capabilities=RayQueryKHR
RayQueryCommittedIntersectionType.RayQueryCommittedIntersectionGeneratedKHR 2 None capabilities=RayQueryKHR
RayQueryCandidateIntersectionType.RayQueryCandidateIntersectionTriangleKHR 0 None capabilities=RayQueryKHR
RayQueryCandidateIntersectionType.RayQueryCandidateIntersectionAABBKHR 1 None capabilities=RayQueryKHR
PackedVectorFormat.PackedVectorFormat4x8Bit 0 1.6 extensions=SPV_KHR_integer_dot_product
PackedVectorFormat.PackedVectorFormat4x8BitKHR = PackedVectorFormat.PackedVectorFormat4x8Bit
CooperativeMatrixOperands.NoneKHR 0 None
CooperativeMatrixOperands.MatrixASignedComponentsKHR 1 None
CooperativeMatrixOperands.MatrixBSignedComponentsKHR 2 None
CooperativeMatrixOperands.MatrixCSignedComponentsKHR 4 None
CooperativeMatrixOperands.MatrixResultSignedComponentsKHR 8 None
CooperativeMatrixOperands.SaturatingAccumulationKHR 16 None
CooperativeMatrixLayout.RowMajorKHR 0 None
CooperativeMatrixLayout.ColumnMajorKHR 1 None
CooperativeMatrixLayout.RowBlockedInterleavedARM 4202 None capabilities=CooperativeMatrixLayoutsARM
CooperativeMatrixLayout.ColumnBlockedInterleavedARM 4203 None capabilities=CooperativeMatrixLayoutsARM
CooperativeMatrixUse.MatrixAKHR 0 None
CooperativeMatrixUse.MatrixBKHR 1 None
CooperativeMatrixUse.MatrixAccumulatorKHR 2 None
CooperativeMatrixReduce.Row 1 None
CooperativeMatrixReduce.Column 2 None
CooperativeMatrixReduce.2x2 4 None
TensorClampMode.Undefined 0 None
TensorClampMode.Constant 1 None
TensorClampMode.ClampToEdge 2 None
TensorClampMode.Repeat 3 None
TensorClampMode.RepeatMirrored 4 None
TensorAddressingOperands.None 0 None
TensorAddressingOperands.TensorView 1 None IdRef capabilities=CooperativeMatrixTensorAddressingNV
TensorAddressingOperands.DecodeFunc 2 None IdRef capabilities=CooperativeMatrixBlockLoadsNV
InitializationModeQualifier.InitOnDeviceReprogramALTERA 0 None capabilities=GlobalVariableFPGADecorationsALTERA
InitializationModeQualifier.InitOnDeviceReprogramINTEL = InitializationModeQualifier.InitOnDeviceReprogramALTERA
InitializationModeQualifier.InitOnDeviceResetALTERA 1 None capabilities=GlobalVariableFPGADecorationsALTERA
InitializationModeQualifier.InitOnDeviceResetINTEL = InitializationModeQualifier.InitOnDeviceResetALTERA
LoadCacheControl.UncachedINTEL 0 None capabilities=CacheControlsINTEL
LoadCacheControl.CachedINTEL 1 None capabilities=CacheControlsINTEL
LoadCacheControl.StreamingINTEL 2 None capabilities=CacheControlsINTEL
LoadCacheControl.InvalidateAfterReadINTEL 3 None capabilities=CacheControlsINTEL
LoadCacheControl.ConstCachedINTEL 4 None capabilities=CacheControlsINTEL
StoreCacheControl.UncachedINTEL 0 None capabilities=CacheControlsINTEL
StoreCacheControl.WriteThroughINTEL 1 None capabilities=CacheControlsINTEL
StoreCacheControl.WriteBackINTEL 2 None capabilities=CacheControlsINTEL
StoreCacheControl.StreamingINTEL 3 None capabilities=CacheControlsINTEL
NamedMaximumNumberOfRegisters.AutoINTEL 0 None capabilities=RegisterLimitsINTEL
MatrixMultiplyAccumulateOperands.None 0 None
MatrixMultiplyAccumulateOperands.MatrixASignedComponentsINTEL 1 None
MatrixMultiplyAccumulateOperands.MatrixBSignedComponentsINTEL 2 None
MatrixMultiplyAccumulateOperands.MatrixCBFloat16INTEL 4 None
MatrixMultiplyAccumulateOperands.MatrixResultBFloat16INTEL 8 None
MatrixMultiplyAccumulateOperands.MatrixAPackedInt8INTEL 16 None
MatrixMultiplyAccumulateOperands.MatrixBPackedInt8INTEL 32 None
MatrixMultiplyAccumulateOperands.MatrixAPackedInt4INTEL 64 None
MatrixMultiplyAccumulateOperands.MatrixBPackedInt4INTEL 128 None
MatrixMultiplyAccumulateOperands.MatrixATF32INTEL 256 None
MatrixMultiplyAccumulateOperands.MatrixBTF32INTEL 512 None
MatrixMultiplyAccumulateOperands.MatrixAPackedFloat16INTEL 1024 None
MatrixMultiplyAccumulateOperands.MatrixBPackedFloat16INTEL 2048 None
MatrixMultiplyAccumulateOperands.MatrixAPackedBFloat16INTEL 4096 None
MatrixMultiplyAccumulateOperands.MatrixBPackedBFloat16INTEL 8192 None
FPEncoding.BFloat16KHR 0 None capabilities=BFloat16TypeKHR
FPEncoding.Float8E4M3EXT 4214 None capabilities=Float8EXT
FPEncoding.Float8E5M2EXT 4215 None capabilities=Float8EXT
CooperativeVectorMatrixLayout.RowMajorNV 0 None
CooperativeVectorMatrixLayout.ColumnMajorNV 1 None
CooperativeVectorMatrixLayout.InferencingOptimalNV 2 None
CooperativeVectorMatrixLayout.TrainingOptimalNV 3 None
ComponentType.Float16NV 0 None
ComponentType.Float32NV 1 None
ComponentType.Float64NV 2 None
ComponentType.SignedInt8NV 3 None
ComponentType.SignedInt16NV 4 None
ComponentType.SignedInt32NV 5 None
ComponentType.SignedInt64NV 6 None
ComponentType.UnsignedInt8NV 7 None
ComponentType.UnsignedInt16NV 8 None
ComponentType.UnsignedInt32NV 9 None
ComponentType.UnsignedInt64NV 10 None
ComponentType.SignedInt8PackedNV 1000491000 None
ComponentType.UnsignedInt8PackedNV 1000491001 None
ComponentType.FloatE4M3NV 1000491002 None
ComponentType.FloatE5M2NV 1000491003 None
TensorOperands.NoneARM 0 None capabilities=TensorsARM
TensorOperands.NontemporalARM 1 None capabilities=TensorsARM
TensorOperands.OutOfBoundsValueARM 2 None IdRef capabilities=TensorsARM
TensorOperands.MakeElementAvailableARM 4 None IdRef capabilities=TensorsARM
TensorOperands.MakeElementVisibleARM 8 None IdRef capabilities=TensorsARM
TensorOperands.NonPrivateElementARM 16 None capabilities=TensorsARM
"""

EXTENDED = """\
OpenCL.std/acos 0 IdRef:X
OpenCL.std/acosh 1 IdRef:X
OpenCL.std/acospi 2 IdRef:X
OpenCL.std/asin 3 IdRef:X
OpenCL.std/asinh 4 IdRef:X
OpenCL.std/asinpi 5 IdRef:X
OpenCL.std/atan 6 IdRef:X
OpenCL.std/atan2 7 IdRef:Y IdRef:X
OpenCL.std/atanh 8 IdRef:X
OpenCL.std/atanpi 9 IdRef:X
OpenCL.std/atan2pi 10 IdRef:Y IdRef:X
OpenCL.std/cbrt 11 IdRef:X
OpenCL.std/ceil 12 IdRef:X
OpenCL.std/copysign 13 IdRef:X IdRef:Y
OpenCL.std/cos 14 IdRef:X
OpenCL.std/cosh 15 IdRef:X
OpenCL.std/cospi 16 IdRef:X
OpenCL.std/erfc 17 IdRef:X
OpenCL.std/erf 18 IdRef:X
OpenCL.std/exp 19 IdRef:X
OpenCL.std/exp2 20 IdRef:X
OpenCL.std/exp10 21 IdRef:X
OpenCL.std/expm1 22 IdRef:X
OpenCL.std/fabs 23 IdRef:X
OpenCL.std/fdim 24 IdRef:X IdRef:Y
OpenCL.std/floor 25 IdRef:X
OpenCL.std/fma 26 IdRef:A IdRef:B IdRef:C
OpenCL.std/fmax 27 IdRef:X IdRef:Y
OpenCL.std/fmin 28 IdRef:X IdRef:Y
OpenCL.std/fmod 29 IdRef:X IdRef:Y
OpenCL.std/fract 30 IdRef:X IdRef:Ptr
OpenCL.std/frexp 31 IdRef:X IdRef:Exp
OpenCL.std/hypot 32 IdRef:X IdRef:Y
OpenCL.std/ilogb 33 IdRef:X
OpenCL.std/ldexp 34 IdRef:X IdRef:K
OpenCL.std/lgamma 35 IdRef:X
OpenCL.std/lgamma_r 36 IdRef:X IdRef:Signp
OpenCL.std/log 37 IdRef:X
OpenCL.std/log2 38 IdRef:X
OpenCL.std/log10 39 IdRef:X
OpenCL.std/log1p 40 IdRef:X
OpenCL.std/logb 41 IdRef:X
OpenCL.std/mad 42 IdRef:A IdRef:B IdRef:C
OpenCL.std/maxmag 43 IdRef:X IdRef:Y
OpenCL.std/minmag 44 IdRef:X IdRef:Y
OpenCL.std/modf 45 IdRef:X IdRef:Iptr
OpenCL.std/nan 46 IdRef:Nancode
OpenCL.std/nextafter 47 IdRef:X IdRef:Y
OpenCL.std/pow 48 IdRef:X IdRef:Y
OpenCL.std/pown 49 IdRef:X IdRef:Y
OpenCL.std/powr 50 IdRef:X IdRef:Y
OpenCL.std/remainder 51 IdRef:X IdRef:Y
OpenCL.std/remquo 52 IdRef:X IdRef:Y IdRef:Quo
OpenCL.std/rint 53 IdRef:X
OpenCL.std/rootn 54 IdRef:X IdRef:Y
OpenCL.std/round 55 IdRef:X
OpenCL.std/rsqrt 56 IdRef:X
OpenCL.std/sin 57 IdRef:X
OpenCL.std/sincos 58 IdRef:X IdRef:Cosval
OpenCL.std/sinh 59 IdRef:X
OpenCL.std/sinpi 60 IdRef:X
OpenCL.std/sqrt 61 IdRef:X
OpenCL.std/tan 62 IdRef:X
OpenCL.std/tanh 63 IdRef:X
OpenCL.std/tanpi 64 IdRef:X
OpenCL.std/tgamma 65 IdRef:X
OpenCL.std/trunc 66 IdRef:X
OpenCL.std/half_cos 67 IdRef:X
OpenCL.std/half_divide 68 IdRef:X IdRef:Y
OpenCL.std/half_exp 69 IdRef:X
OpenCL.std/half_exp2 70 IdRef:X
OpenCL.std/half_exp10 71 IdRef:X
OpenCL.std/half_log 72 IdRef:X
OpenCL.std/half_log2 73 IdRef:X
OpenCL.std/half_log10 74 IdRef:X
OpenCL.std/half_powr 75 IdRef:X IdRef:Y
OpenCL.std/half_recip 76 IdRef:X
OpenCL.std/half_rsqrt 77 IdRef:X
OpenCL.std/half_sin 78 IdRef:X
OpenCL.std/half_sqrt 79 IdRef:X
OpenCL.std/half_tan 80 IdRef:X
OpenCL.std/native_cos 81 IdRef:X
OpenCL.std/native_divide 82 IdRef:X IdRef:Y
OpenCL.std/native_exp 83 IdRef:X
OpenCL.std/native_exp2 84 IdRef:X
OpenCL.std/native_exp10 85 IdRef:X
OpenCL.std/native_log 86 IdRef:X
OpenCL.std/native_log2 87 IdRef:X
OpenCL.std/native_log10 88 IdRef:X
OpenCL.std/native_powr 89 IdRef:X IdRef:Y
OpenCL.std/native_recip 90 IdRef:X
OpenCL.std/native_rsqrt 91 IdRef:X
OpenCL.std/native_sin 92 IdRef:X
OpenCL.std/native_sqrt 93 IdRef:X
OpenCL.std/native_tan 94 IdRef:X
OpenCL.std/fclamp 95 IdRef:X IdRef:Minval IdRef:Maxval
OpenCL.std/degrees 96 IdRef:Radians
OpenCL.std/fmax_common 97 IdRef:X IdRef:Y
OpenCL.std/fmin_common 98 IdRef:X IdRef:Y
OpenCL.std/mix 99 IdRef:X IdRef:Y IdRef:A
OpenCL.std/radians 100 IdRef:Degrees
OpenCL.std/step 101 IdRef:Edge IdRef:X
OpenCL.std/smoothstep 102 IdRef:Edge0 IdRef:Edge1 IdRef:X
OpenCL.std/sign 103 IdRef:X
OpenCL.std/cross 104 IdRef:P0 IdRef:P1
OpenCL.std/distance 105 IdRef:P0 IdRef:P1
OpenCL.std/length 106 IdRef:P
OpenCL.std/normalize 107 IdRef:P
OpenCL.std/fast_distance 108 IdRef:P0 IdRef:P1
OpenCL.std/fast_length 109 IdRef:P
OpenCL.std/fast_normalize 110 IdRef:P
OpenCL.std/s_abs 141 IdRef:X
OpenCL.std/s_abs_diff 142 IdRef:X IdRef:Y
OpenCL.std/s_add_sat 143 IdRef:X IdRef:Y
OpenCL.std/u_add_sat 144 IdRef:X IdRef:Y
OpenCL.std/s_hadd 145 IdRef:X IdRef:Y
OpenCL.std/u_hadd 146 IdRef:X IdRef:Y
OpenCL.std/s_rhadd 147 IdRef:X IdRef:Y
OpenCL.std/u_rhadd 148 IdRef:X IdRef:Y
OpenCL.std/s_clamp 149 IdRef:X IdRef:Minval IdRef:Maxval
OpenCL.std/u_clamp 150 IdRef:X IdRef:Minval IdRef:Maxval
OpenCL.std/clz 151 IdRef:X
OpenCL.std/ctz 152 IdRef:X
OpenCL.std/s_mad_hi 153 IdRef:A IdRef:B IdRef:C
OpenCL.std/u_mad_sat 154 IdRef:X IdRef:Y IdRef:Z
OpenCL.std/s_mad_sat 155 IdRef:X IdRef:Y IdRef:Z
OpenCL.std/s_max 156 IdRef:X IdRef:Y
OpenCL.std/u_max 157 IdRef:X IdRef:Y
OpenCL.std/s_min 158 IdRef:X IdRef:Y
OpenCL.std/u_min 159 IdRef:X IdRef:Y
OpenCL.std/s_mul_hi 160 IdRef:X IdRef:Y
OpenCL.std/rotate 161 IdRef:V IdRef:I
OpenCL.std/s_sub_sat 162 IdRef:X IdRef:Y
OpenCL.std/u_sub_sat 163 IdRef:X IdRef:Y
OpenCL.std/u_upsample 164 IdRef:Hi IdRef:Lo
OpenCL.std/s_upsample 165 IdRef:Hi IdRef:Lo
OpenCL.std/popcount 166 IdRef:X
OpenCL.std/s_mad24 167 IdRef:X IdRef:Y IdRef:Z
OpenCL.std/u_mad24 168 IdRef:X IdRef:Y IdRef:Z
OpenCL.std/s_mul24 169 IdRef:X IdRef:Y
OpenCL.std/u_mul24 170 IdRef:X IdRef:Y
OpenCL.std/vloadn 171 IdRef:Offset IdRef:P LiteralInteger:N
OpenCL.std/vstoren 172 IdRef:Data IdRef:Offset IdRef:P
OpenCL.std/vload_half 173 IdRef:Offset IdRef:P
OpenCL.std/vload_halfn 174 IdRef:Offset IdRef:P LiteralInteger:N
OpenCL.std/vstore_half 175 IdRef:Data IdRef:Offset IdRef:P
OpenCL.std/vstore_half_r 176 IdRef:Data IdRef:Offset IdRef:P FPRoundingMode:Mode
OpenCL.std/vstore_halfn 177 IdRef:Data IdRef:Offset IdRef:P
OpenCL.std/vstore_halfn_r 178 IdRef:Data IdRef:Offset IdRef:P FPRoundingMode:Mode
OpenCL.std/vloada_halfn 179 IdRef:Offset IdRef:P LiteralInteger:N
OpenCL.std/vstorea_halfn 180 IdRef:Data IdRef:Offset IdRef:P
OpenCL.std/vstorea_halfn_r 181 IdRef:Data IdRef:Offset IdRef:P FPRoundingMode:Mode
OpenCL.std/shuffle 182 IdRef:X IdRef:ShuffleMask
OpenCL.std/shuffle2 183 IdRef:X IdRef:Y IdRef:ShuffleMask
OpenCL.std/printf 184 IdRef:Format IdRef*:AdditionalArguments
OpenCL.std/prefetch 185 IdRef:Ptr IdRef:NumElements
OpenCL.std/bitselect 186 IdRef:A IdRef:B IdRef:C
OpenCL.std/select 187 IdRef:A IdRef:B IdRef:C
OpenCL.std/u_abs 201 IdRef:X
OpenCL.std/u_abs_diff 202 IdRef:X IdRef:Y
OpenCL.std/u_mul_hi 203 IdRef:X IdRef:Y
OpenCL.std/u_mad_hi 204 IdRef:A IdRef:B IdRef:C
GLSL.std.450/Round 1 IdRef:X
GLSL.std.450/RoundEven 2 IdRef:X
GLSL.std.450/Trunc 3 IdRef:X
GLSL.std.450/FAbs 4 IdRef:X
GLSL.std.450/SAbs 5 IdRef:X
GLSL.std.450/FSign 6 IdRef:X
GLSL.std.450/SSign 7 IdRef:X
GLSL.std.450/Floor 8 IdRef:X
GLSL.std.450/Ceil 9 IdRef:X
GLSL.std.450/Fract 10 IdRef:X
GLSL.std.450/Radians 11 IdRef:Degrees
GLSL.std.450/Degrees 12 IdRef:Radians
GLSL.std.450/Sin 13 IdRef:X
GLSL.std.450/Cos 14 IdRef:X
GLSL.std.450/Tan 15 IdRef:X
GLSL.std.450/Asin 16 IdRef:X
GLSL.std.450/Acos 17 IdRef:X
GLSL.std.450/Atan 18 IdRef:YOverX
GLSL.std.450/Sinh 19 IdRef:X
GLSL.std.450/Cosh 20 IdRef:X
GLSL.std.450/Tanh 21 IdRef:X
GLSL.std.450/Asinh 22 IdRef:X
GLSL.std.450/Acosh 23 IdRef:X
GLSL.std.450/Atanh 24 IdRef:X
GLSL.std.450/Atan2 25 IdRef:Y IdRef:X
GLSL.std.450/Pow 26 IdRef:X IdRef:Y
GLSL.std.450/Exp 27 IdRef:X
GLSL.std.450/Log 28 IdRef:X
GLSL.std.450/Exp2 29 IdRef:X
GLSL.std.450/Log2 30 IdRef:X
GLSL.std.450/Sqrt 31 IdRef:X
GLSL.std.450/InverseSqrt 32 IdRef:X
GLSL.std.450/Determinant 33 IdRef:X
GLSL.std.450/MatrixInverse 34 IdRef:X
GLSL.std.450/Modf 35 IdRef:X IdRef:I
GLSL.std.450/ModfStruct 36 IdRef:X
GLSL.std.450/FMin 37 IdRef:X IdRef:Y
GLSL.std.450/UMin 38 IdRef:X IdRef:Y
GLSL.std.450/SMin 39 IdRef:X IdRef:Y
GLSL.std.450/FMax 40 IdRef:X IdRef:Y
GLSL.std.450/UMax 41 IdRef:X IdRef:Y
GLSL.std.450/SMax 42 IdRef:X IdRef:Y
GLSL.std.450/FClamp 43 IdRef:X IdRef:MinVal IdRef:MaxVal
GLSL.std.450/UClamp 44 IdRef:X IdRef:MinVal IdRef:MaxVal
GLSL.std.450/SClamp 45 IdRef:X IdRef:MinVal IdRef:MaxVal
GLSL.std.450/FMix 46 IdRef:X IdRef:Y IdRef:A
GLSL.std.450/IMix 47 IdRef:X IdRef:Y IdRef:A
GLSL.std.450/Step 48 IdRef:Edge IdRef:X
GLSL.std.450/SmoothStep 49 IdRef:Edge0 IdRef:Edge1 IdRef:X
GLSL.std.450/Fma 50 IdRef:A IdRef:B IdRef:C
GLSL.std.450/Frexp 51 IdRef:X IdRef:Exp
GLSL.std.450/FrexpStruct 52 IdRef:X
GLSL.std.450/Ldexp 53 IdRef:X IdRef:Exp
GLSL.std.450/PackSnorm4x8 54 IdRef:V
GLSL.std.450/PackUnorm4x8 55 IdRef:V
GLSL.std.450/PackSnorm2x16 56 IdRef:V
GLSL.std.450/PackUnorm2x16 57 IdRef:V
GLSL.std.450/PackHalf2x16 58 IdRef:V
GLSL.std.450/PackDouble2x32 59 IdRef:V
GLSL.std.450/UnpackSnorm2x16 60 IdRef:P
GLSL.std.450/UnpackUnorm2x16 61 IdRef:P
GLSL.std.450/UnpackHalf2x16 62 IdRef:V
GLSL.std.450/UnpackSnorm4x8 63 IdRef:P
GLSL.std.450/UnpackUnorm4x8 64 IdRef:P
GLSL.std.450/UnpackDouble2x32 65 IdRef:V
GLSL.std.450/Length 66 IdRef:X
GLSL.std.450/Distance 67 IdRef:P0 IdRef:P1
GLSL.std.450/Cross 68 IdRef:X IdRef:Y
GLSL.std.450/Normalize 69 IdRef:X
GLSL.std.450/FaceForward 70 IdRef:N IdRef:I IdRef:Nref
GLSL.std.450/Reflect 71 IdRef:I IdRef:N
GLSL.std.450/Refract 72 IdRef:I IdRef:N IdRef:Eta
GLSL.std.450/FindILsb 73 IdRef:Value
GLSL.std.450/FindSMsb 74 IdRef:Value
GLSL.std.450/FindUMsb 75 IdRef:Value
GLSL.std.450/InterpolateAtCentroid 76 IdRef:Interpolant
GLSL.std.450/InterpolateAtSample 77 IdRef:Interpolant IdRef:Sample
GLSL.std.450/InterpolateAtOffset 78 IdRef:Interpolant IdRef:Offset
GLSL.std.450/NMin 79 IdRef:X IdRef:Y
GLSL.std.450/NMax 80 IdRef:X IdRef:Y
GLSL.std.450/NClamp 81 IdRef:X IdRef:MinVal IdRef:MaxVal
NonSemantic.DebugPrintf/DebugPrintf 1 IdRef:Format IdRef*
"""
