// Whether an OpenAPI document is one for swagger-parser: node validate.mjs FILE
import SwaggerParser from '@apidevtools/swagger-parser'

const api = await SwaggerParser.validate(process.argv[2])
console.log(`swagger-parser: ${Object.keys(api.paths).length} addresses, no finding`)
