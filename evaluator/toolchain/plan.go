package toolchain

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// buildPlan has the commands that compile and link one C++ or CUDA program.
type buildPlan struct {
	compiler    *Tool
	sources     harness.SourceSet
	compileArgs []string // the compiler and the flags of every command
	linkArgs    []string // arguments after the objects when linking
	mounts      []sandbox.Mount
	baseHash    string // hash of everything that the plan contains except the files
}

var (
	// Changing these flags changes every score. They are part of the base key, so everything is compiled again, but
	// boards do not start again.
	nvccFlags = []string{
		"--std=c++20", "-DNDEBUG", "-Xcompiler=-Wno-psabi", "-Xcompiler=-fno-strict-aliasing",
		"--expt-extended-lambda", "--expt-relaxed-constexpr", "-forward-unknown-to-host-compiler", "-O3",
		"-Xptxas=--verbose", "-Xptxas=--warn-on-spills",
		"-lineinfo", // maps instructions to source lines for profiles; does not change the code
	}
	compilerFlagsGPP = []string{"-std=c++20", "-O3", "-march=native", "-pthread"}
)

// newPlan determines the commands. Its error is about the task's configuration, for the task's author.
func (b *Builder) newPlan(def tasks.Definition, sources harness.SourceSet, arch string) (*buildPlan, error) {
	cuda := def.Lang == tasks.LangCUDA
	p := &buildPlan{compiler: b.cfg.Toolchain.CompilerFor(def.Lang), sources: sources}
	flags, err := tasks.CheckCompileFlags(def.Lang, def.Config.CompileFlags)
	if err != nil {
		return nil, err
	}
	p.compileArgs = []string{p.compiler.Path}
	if cuda {
		p.compileArgs = append(p.compileArgs, nvccFlags...)
		p.linkArgs = []string{"-Xnvlink=--verbose"}
	} else {
		p.compileArgs = append(p.compileArgs, compilerFlagsGPP...)
	}
	p.compileArgs = append(p.compileArgs, flags...)
	if err := p.addDefines(def.Config.Defines); err != nil {
		return nil, err
	}
	if err := p.addIncludes(b, def.Config.IncludeDirs); err != nil {
		return nil, err
	}
	if cuda {
		p.addThunderKittens(b)
		p.compileArgs = append(p.compileArgs, nvccArchFlag(arch))
	}
	for _, library := range def.Libraries {
		if !tasks.IsLibraryName(library) {
			return nil, fmt.Errorf("libraries: %q is not the name of a library", library)
		}
		p.linkArgs = append(p.linkArgs, "-l"+library)
	}
	p.mounts = append(p.mounts, p.compiler.Mounts()...)
	// The first element is the version of the store's format. Increase it when the meaning of stored data changes.
	p.baseHash = hashParts(slices.Concat([]string{"6", p.compiler.Version, marchTarget()}, p.compileArgs, []string{"link"}, p.linkArgs, p.libraryModTimes())...)
	return p, nil
}

func (p *buildPlan) addDefines(defines []tasks.Define) error {
	for _, d := range defines {
		if !tasks.IsIdentifier(d.Name) {
			return fmt.Errorf("defines: %q is not a name that can be defined", d.Name)
		}
		flag := "-D" + d.Name
		if d.Value != nil {
			flag += "=" + *d.Value
		}
		p.compileArgs = append(p.compileArgs, flag)
	}
	return nil
}

func (p *buildPlan) addIncludes(b *Builder, dirs []string) error {
	for _, dir := range dirs {
		flag, mount, err := b.resolveInclude(dir)
		if err != nil {
			return err
		}
		p.addInclude(flag, mount)
	}
	return nil
}

// addThunderKittens adds the headers of ThunderKittens if the worker has them, as KernelBot does for every CUDA task.
func (p *buildPlan) addThunderKittens(b *Builder) {
	if flag, mount, err := b.resolveInclude("ThunderKittens/include"); err == nil && !slices.Contains(p.compileArgs, flag) {
		p.addInclude(flag, mount)
	}
}

func (p *buildPlan) addInclude(flag string, mount *sandbox.Mount) {
	p.compileArgs = append(p.compileArgs, flag)
	if mount != nil && !slices.Contains(p.mounts, *mount) {
		p.mounts = append(p.mounts, *mount)
	}
}

// libraryModTimes returns the modification times of the mounted include libraries. It reads only the top directories,
// so changes of headers deep inside are not noticed.
func (p *buildPlan) libraryModTimes() []string {
	var ages []string
	for _, m := range p.mounts {
		if info, err := os.Stat(m.HostPath); err == nil {
			ages = append(ages, m.InsidePath, info.ModTime().UTC().String())
		}
	}
	return ages
}

// compileCommand returns the command that compiles one file in /in to /out/object. The judge's file is its whole
// program, so its command also links it.
func (p *buildPlan) compileCommand(file harness.CompileInput) []string {
	return p.compileCommandTo(file, "/out/object")
}

// compileCommandTo returns the command of compileCommand with another output file. With Warpboard's harness a
// submission sees only the part of the headers that it can use, because parsing the rest takes longer than most
// kernels.
func (p *buildPlan) compileCommandTo(file harness.CompileInput, product string) []string {
	if file.IsJudge {
		return slices.Concat(p.compileArgs, []string{file.FileName}, p.linkArgs, []string{"-o", product})
	}
	command := slices.Clone(p.compileArgs)
	if file.HasSubmission && p.sources.HasSeparateJudge {
		command = append(command, "-DWARPBOARD_SUBMISSION")
	}
	return append(command, "-c", file.FileName, "-o", product)
}

// ptxCommand returns the command that compiles a submitted file in /in to PTX, with the flags of compileCommand.
func (p *buildPlan) ptxCommand(file harness.CompileInput) []string {
	return p.compileCommandWith(file, "/out/ptx", "-ptx")
}

// compileCommandWith returns the command of compileCommandTo with other flags instead of -c.
func (p *buildPlan) compileCommandWith(file harness.CompileInput, product string, flags ...string) []string {
	command := p.compileCommandTo(file, product)
	at := slices.Index(command, "-c")
	return slices.Replace(command, at, at+1, flags...)
}

// linkCommand returns the command that links the objects in /in, in the order of the files, into the submission's
// program.
func (p *buildPlan) linkCommand() []string {
	command := slices.Clone(p.compileArgs)
	for i, file := range p.sources.ToCompile {
		if !file.IsJudge {
			command = append(command, objectName(i))
		}
	}
	return slices.Concat(command, p.linkArgs, []string{"-o", "/out/program"})
}

func objectName(i int) string { return strconv.Itoa(i) + ".o" }

// String returns the commands of the whole build as shell lines.
func (p *buildPlan) String() string {
	var lines []string
	for i, file := range p.sources.ToCompile {
		product := objectName(i)
		if file.IsJudge {
			product = "judge"
		}
		lines = append(lines, shellLine(p.compileCommandTo(file, product)))
	}
	return strings.Join(append(lines, shellLine(p.linkCommand())), "\n")
}

// shellLine joins arguments as a shell line. It is for people to copy; no shell runs it.
func shellLine(arguments []string) string {
	quoted := make([]string, len(arguments))
	for i, a := range arguments {
		quoted[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'$`\\&|;<>()*?[]#~!{}") {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// nvccArchFlag returns nvcc's flag for one compute capability, with the architecture-specific features from Hopper on.
func nvccArchFlag(arch string) string {
	if arch == "" {
		return "-arch=native"
	}
	if n, err := strconv.Atoi(arch); err == nil && n >= 90 {
		arch += "a"
	}
	return fmt.Sprintf("-gencode=arch=compute_%s,code=sm_%s", arch, arch)
}

// marchTarget returns the target of -march=native on this machine. It reads only the first core, because Linux takes
// long to list hundreds of them.
func marchTarget() string {
	info, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer info.Close()
	for lines := bufio.NewScanner(info); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, "flags") || strings.HasPrefix(line, "Features") {
			return line
		}
	}
	return ""
}

// librariesDir is the directory of include libraries in the sandbox.
const librariesDir = "/libraries"

// resolveInclude resolves one entry of a task's include_dirs. "." is the task's own directory. Any other entry begins
// with the name of an include library, in any case: "CUTLASS", "ThunderKittens/include", or, in tasks from KernelBot,
// "/ThunderKittens/include".
func (b *Builder) resolveInclude(dir string) (flag string, mount *sandbox.Mount, err error) {
	cleaned := strings.TrimPrefix(path.Clean(dir), "/")
	if cleaned == "." || cleaned == "" {
		return "-I/in", nil, nil
	}
	name, rest, _ := strings.Cut(cleaned, "/")
	for _, known := range slices.Sorted(maps.Keys(b.cfg.Libraries)) {
		if !strings.EqualFold(known, name) {
			continue
		}
		// "CUTLASS/../../etc" must not leave the mount, although the sandbox shows nothing there.
		if rest != "" && !filepath.IsLocal(rest) {
			break
		}
		inside := path.Join(librariesDir, known)
		return "-I" + path.Join(inside, rest), &sandbox.Mount{HostPath: b.cfg.Libraries[known], InsidePath: inside}, nil
	}
	return "", nil, fmt.Errorf("include_dirs: this worker has no include library %q (it has: %s)", dir, b.includeLibraryNames())
}

func (b *Builder) includeLibraryNames() string {
	names := slices.Sorted(maps.Keys(b.cfg.Libraries))
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
