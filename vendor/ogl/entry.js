export { Box, Camera, Geometry, Mesh, Program, Renderer, Sphere, Transform, Vec3 } from "ogl";
